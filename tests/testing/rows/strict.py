"""Strict mode, as a test asks for it."""

from urllib.error import HTTPError

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UnmatchedRequestError

URL = "http://pay.test/charges"


@row
async def from_now_on(t: RowContext) -> None:
    """A request that no route wants is refused, and fails the test."""
    await t(t.mocks.strict(allow=["auth.test"]))
    await t.answer(f"{URL}?one", "mine")
    assert await t.through_proxy(f"{URL}?one", t.mocks.headers) == "mine"
    for _ in range(2):
        try:
            await t.through_proxy(URL, t.mocks.headers)
        except HTTPError as refused:
            assert refused.code == 403
            refused.close()
        else:
            raise AssertionError("it was not refused")
    (error,) = await t.errors()
    assert isinstance(error, UnmatchedRequestError), error
    assert f"GET {URL}" in str(error), error
    assert "1 more request met the same" in str(error) or error.repeats == 1, error


@row
async def nothing_without_a_test(t: RowContext) -> None:
    """The list of what no test owns can be asked for; this is not on it."""
    await t.through_proxy(t.url("json"), {})
    # The proxy is that of other tests, too.
    assert t.base not in str(await t(t.mocks.unmatched()))
