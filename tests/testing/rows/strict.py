"""Strict mode, as a test asks for it."""

import json
import re
from urllib.error import HTTPError

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UnmatchedRequestError, UsageError

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
    (error,) = await t.errors_until_now()
    assert isinstance(error, UnmatchedRequestError), error
    assert f"GET {URL}" in str(error), error
    assert "1 more request met the same" in str(error) or error.repeats == 1, error


@row
async def allowed_by_more_than_the_url(t: RowContext) -> None:
    """``allow`` has conditions, too; a request that meets them goes on, here to no address."""
    sku = {
        "url": f"{URL}*",
        "method": "POST",
        "match_query": {"page": re.compile("^[0-9]$")},
        "match_json": {"sku": "teapot"},
    }
    await t(t.mocks.strict(allow=["auth.test", sku]))
    teapot = json.dumps({"sku": "teapot", "more": 1}).encode()
    for url, data, status in (
        (f"{URL}?page=2", teapot, 502),
        (f"{URL}?page=22", teapot, 403),
        (f"{URL}?page=2", b'{"sku": "pot"}', 403),
        (f"{URL}?page=2", None, 403),
    ):
        headers = {**t.mocks.headers, "content-type": "application/json"}
        try:
            await t.through_proxy(url, headers, data)
        except HTTPError as answer:
            assert answer.code == status, (url, data, answer.code)
            answer.close()
        else:
            raise AssertionError("it was answered")
    errors = await t.errors_until_now()
    assert len(errors) == 3, errors
    assert "only auth.test, POST " in str(errors[0])
    assert " with conditions." in str(errors[0])


@row
async def allowed_by_a_function(t: RowContext) -> None:
    """A function cannot be asked where no route is met."""
    for wrong in (
        {"url": lambda _: True},
        {"url": "/relative"},
        {"match_json": {"paid": lambda _: True}},
        {"match_json": 1, "nonsense": 2},
        5,
    ):
        try:
            await t(t.mocks.strict(allow=[wrong]))
        except UsageError as error:
            assert "\n" not in str(error), error
        else:
            raise AssertionError(f"{wrong} was taken")


@row
async def nothing_without_a_test(t: RowContext) -> None:
    """The list of what no test owns can be asked for; this is not on it."""
    await t.through_proxy(t.url("json"), {})
    # The proxy is that of other tests, too.
    assert t.base not in str(await t(t.mocks.unmatched()))
