"""The context of a test, on requests that the test sends through the forward proxy itself."""

from typing import Any

from tests.testing.row_context import RowContext, row


@row
async def requests_name_the_test(t: RowContext) -> None:
    """A request with the context is the test's, also where no route wants it."""
    url = t.url("json")
    await t.through_proxy(url, t.mocks.headers)
    await t.through_proxy(f"{url}?other", {})
    (mine, other) = [each for each in await t.recorded() if each["request"]["url"].startswith(url)]
    if mine["request"]["url"] != url:
        mine, other = other, mine
    assert mine["title"].endswith("requests_name_the_test"), mine
    assert mine["action"] == "passthrough", mine
    assert "title" not in other, other
    assert "trafficmock.test" not in str(mine["request"]["headers"]), mine


@row
async def answers_to_its_own(t: RowContext) -> None:
    """A route answers what carries the context, and waits see it."""
    url = t.url("json")
    await t.answer(url, "mine")
    assert await t.through_proxy(url, t.mocks.headers) == "mine"
    cookie = t.mocks.cookie
    assert await t.through_proxy(url, {"cookie": f"{cookie['name']}={cookie['value']}"}) == "mine"
    assert len(await t(t.mocks.requests(url))) == 2
    assert len(t.mocks.id) == 32


@row
async def browsers_are_tagged(t: RowContext) -> None:
    """A browser context gets the cookie by a call, or by something to await."""
    added: list[Any] = []

    class Browser:
        def add_cookies(self, cookies: list[Any]) -> Any:
            added.extend(cookies)
            return done()

    async def done() -> None:
        return None

    context: Any = Browser()
    if t.adapter.name == "blocking":
        context.add_cookies = added.extend
    await t(t.mocks.tag(context, "http://localhost:3000"))
    assert [each["value"] for each in added] == [t.mocks.id], added
