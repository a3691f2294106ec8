"""The one decision of a handler, too late, too often or never."""

from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import AlreadyHandledError, UndecidedError, UsageError


@row
async def undecided(t: RowContext) -> None:
    """A handler that returns without a decision fails the request and the test."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        """Do nothing."""

    await t.route(url, handler)
    assert "error" in await t.get(url)
    (error,) = await t.errors()
    assert isinstance(error, UndecidedError)


async def begun(t: RowContext) -> tuple[list[Any], str]:
    """Let two handlers keep the route of a request, each when it gets it.

    :returns: the routes, of which the first is there, and the key of the request's outcome.
    """
    url = t.url("echo")
    kept: list[Any] = []

    async def handler(route: Any, request: Any) -> None:
        kept.append(route)

    for _ in range(2):
        await t.route(url, handler)
    key = await t.begin(url)
    await t.until(lambda: kept)
    return kept, key


@row
async def decided_later(t: RowContext) -> None:
    """A route that is kept may be decided after its handler returned."""
    kept, key = await begun(t)
    await t(kept.pop().fallback())
    await t.until(lambda: kept)
    await t(kept.pop().fulfill(body="later"))
    assert (await t.outcome(key))["body"] == "later"


@row
async def decided_after_falling_back(t: RowContext) -> None:
    """A handler that left the request to the next one decides no more."""
    kept, key = await begun(t)
    await t(kept[0].fallback())
    await t.until(lambda: len(kept) == 2)
    try:
        await t(kept[0].fulfill(body="too late"))
    except AlreadyHandledError as error:
        assert "already handled" in str(error)
    else:
        raise AssertionError("it decided twice")
    await t(kept[1].fulfill(body="second"))
    assert (await t.outcome(key))["body"] == "second"


@row
async def throws_after_deciding(t: RowContext) -> None:
    """A handler that raises after its decision keeps that; the test hears of the error."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        await t(route.fulfill(body="done"))
        raise ValueError("after all")

    await t.route(url, handler)
    assert (await t.get(url))["body"] == "done"
    assert [str(error) for error in await t.late_errors()] == ["after all"]


@row
async def second_decision(t: RowContext) -> None:
    """Deciding twice is an error; an attempt that was refused does not count."""
    url = t.url("echo")
    errors: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        for options in ({"json": {}, "body": "x"}, {"body": "once"}, {"body": "twice"}):
            try:
                await t(route.fulfill(**options))
            except UsageError as error:
                errors.append(str(error))

    await t.route(url, handler)
    assert (await t.get(url))["body"] == "once"
    await t.until(lambda: len(errors) >= 2)
    assert "either body or json" in errors[0]
    assert "already handled" in errors[-1]


@row
async def changes_that_no_request_can_have(t: RowContext) -> None:
    """A method or a header that HTTP cannot carry is refused at the call, and undecided."""
    url = t.url("echo")
    errors: list[str] = []
    wrong: tuple[dict[str, Any], ...] = (
        {"method": "GE T"},
        {"headers": {"bad name": "x"}},
        {"headers": {"x-line": "a\r\nb: c"}},
        {"headers": {"x-wide": "\N{EURO SIGN}"}},
    )

    async def handler(route: Any, request: Any) -> None:
        for decide in (route.continue_, route.fallback, route.fetch):
            for options in wrong:
                try:
                    await t(decide(**options))
                except UsageError as error:
                    errors.append(str(error))
        await t(route.fulfill(body="fine"))

    await t.route(url, handler)
    assert (await t.get(url))["body"] == "fine"
    said = ("'GE T' is not a method", "'bad name' is not a header", "'x-line' has", "'x-wide' has")
    assert len(errors) == 3 * len(wrong), errors
    for error, text in zip(errors, said * 3, strict=True):
        assert text in error.replace('"', "'"), error
