"""Who handles what: matchers, order, ``times``, ``unroute``, chains."""

import math
import re
from typing import Any

from tests.testing.scene import Scene, ours, row
from trafficmock.matching import GlobError
from trafficmock.testing.errors import AlreadyHandledError, UndecidedError, UsageError


@row
async def glob(t: Scene) -> None:
    """A glob matches the whole URL."""
    await t.answer(f"**/echo/{t.base}", "glob")
    assert (await t.get(t.url("echo")))["body"] == "glob"
    assert (await t.get(t.url("echo", "?x=1")))["body"] != "glob"


@row
async def regex(t: Scene) -> None:
    """A pattern is searched in the URL, with its flags."""
    await t.answer(re.compile(rf"ECHO/{t.base}\?x=\d+$", re.IGNORECASE), "regex")
    assert (await t.get(t.url("echo", "?x=12")))["body"] == "regex"
    assert (await t.get(t.url("echo", "?x=y")))["body"] != "regex"


@row
async def regex_only_python_has(t: Scene) -> None:
    """A pattern that JavaScript would read otherwise is judged here."""
    await t.answer(re.compile(rf"(?P<page>echo)/{t.base}(?<!x)\Z"), "named")
    assert (await t.get(t.url("echo")))["body"] == "named"


@row
async def predicate(t: Scene) -> None:
    """A predicate gets the URL as text."""
    seen: list[Any] = []

    def wanted(url: str) -> bool:
        seen.append(url)
        return t.base in url

    await t.answer(wanted, "predicate")
    assert (await t.get(t.url("echo")))["body"] == "predicate"
    assert set(map(type, seen)) == {str}


@row
async def url_pattern(t: Scene) -> None:
    """Anything with ``test`` is a URLPattern."""

    class Pattern:
        def test(self, url: str) -> bool:
            return t.base in url

    await t.answer(Pattern(), "pattern")
    assert (await t.get(t.url("echo")))["body"] == "pattern"


@row
async def filters(t: Scene) -> None:
    """Filters of method and client id, scalar or list, as keywords or in a mapping."""
    url = t.url("echo")
    await t.answer({"url": url, "method": ["put", "POST"], "client_id": "app"}, "mapping")
    await t.answer(url, "another's", client_id="another app")
    assert (await t.get(url, method="POST", body="x"))["body"] == "mapping"
    assert (await t.get(url))["body"] not in ("mapping", "another's")
    await t.answer(url, "keyword", method="get", client_id=["app", "b"])
    assert (await t.get(url))["body"] == "keyword"


@row
async def empty_filters(t: Scene) -> None:
    """Empty lists do not filter, and a filter without URL matches all URLs."""
    await t.answer({"method": [], "client_id": []}, "all")
    assert (await t.get(t.url("echo")))["body"] == "all"


@row
async def empty_glob(t: Scene) -> None:
    """The empty glob matches every URL."""
    await t.answer("", "all")
    assert (await t.get(t.url("echo")))["body"] == "all"


@row
async def bad_glob(t: Scene) -> None:
    """A bad glob is refused at once."""
    for bad in ("**/{a", "**/a}", "**/{a,{b}}"):
        try:
            await t.answer(bad, "")
        except GlobError:
            continue
        raise AssertionError(bad)


@row
async def newest_first(t: Scene) -> None:
    """The newest handler that matches is asked first."""
    url = t.url("echo")
    await t.answer(url, "old")
    await t.answer("**/*", "new")
    await t.answer("**/nothing", "other")
    assert (await t.get(url))["body"] == "new"


@row
async def times(t: Scene) -> None:
    """A handler with ``times`` is gone after so many calls."""
    url = t.url("echo")
    await t.answer(url, "always")
    await t.answer(url, "twice", times=2)
    bodies = [(await t.get(url))["body"] for _ in range(3)]
    assert bodies == ["twice", "twice", "always"]


@row
async def odd_times(t: Scene) -> None:
    """Zero and less count as one; NaN never ends."""
    url = t.url("echo")
    await t.answer(url, "for ever", times=math.nan)
    await t.answer(url, "minus", times=-3)
    await t.answer(url, "zero", times=0)
    bodies = [(await t.get(url))["body"] for _ in range(4)]
    assert bodies == ["zero", "minus", "for ever", "for ever"]


@row
async def a_fallback_counts(t: Scene) -> None:
    """A call that falls back counts for ``times``."""
    url = t.url("echo")
    await t.answer(url, "below")
    calls = []

    async def handler(route: Any, request: Any) -> None:
        calls.append(request.url)
        await t(route.fallback())

    await t.route(url, handler, times=1)
    assert [(await t.get(url))["body"] for _ in range(2)] == ["below", "below"]
    assert len(calls) == 1


@row
async def two_at_once_on_times_one(t: Scene) -> None:
    """Of two requests at once, a ``times=1`` handler gets one; the other goes to the network."""
    url = t.url("echo")
    gate = t.adapter.gate()

    async def handler(route: Any, request: Any) -> None:
        await t(gate.wait())
        await t(route.fulfill(body="mock"))

    await t.route(url, handler, times=1)
    first, second = await t.begin(url), await t.begin(url)
    other = await t.outcome(second)
    gate.open()
    assert (await t.outcome(first))["body"] == "mock"
    assert other["body"] != "mock"
    assert len(await t.upstream(f"seen?path=/echo/{t.base}")) == 1


@row
async def unroute(t: Scene) -> None:
    """``unroute`` takes the matcher and the handler as they were given."""
    url = t.url("echo")
    one = await t.answer(url, "one")
    await t.answer(url, "two")
    await t.answer(re.compile(t.base), "regex")
    await t(t.mocks.unroute(re.compile(t.base)))
    assert (await t.get(url))["body"] == "two"
    await t(t.mocks.unroute(url, one))
    assert (await t.get(url))["body"] == "two"
    await t.answer(url, "filtered", method="GET")
    await t(t.mocks.unroute(url))
    assert (await t.get(url))["body"] == "filtered"


@row
async def unroute_predicates_by_identity(t: Scene) -> None:
    """Two functions that do the same are not the same matcher."""
    await t.answer(lambda url: t.base in url, "kept")
    await t(t.mocks.unroute(lambda url: t.base in url))
    assert (await t.get(t.url("echo")))["body"] == "kept"


async def held_request(t: Scene, url: str, gate: Any) -> str:
    """Begin a request, and come back once its handler runs."""
    started: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        started.append(request.url)
        await t(gate.wait())
        await t(route.fulfill(body="held"))

    await t.route(url, handler)
    key: str = ""

    async def act() -> None:
        nonlocal key
        key = await t.begin(url)

    await t.expect("request", url, act)
    while not started:
        await t.upstream("seen?path=/nothing")
    return key


@row
async def unroute_all_lets_go(t: Scene) -> None:
    """By default ``unroute_all`` lets the requests of running handlers go on."""
    url, gate = t.url("echo"), t.adapter.gate()
    key = await held_request(t, url, gate)
    await t(t.mocks.unroute_all())
    assert '"path"' in (await t.outcome(key))["body"]
    gate.open()
    (error,) = await late_errors(t)
    assert isinstance(error, AlreadyHandledError)
    assert '"path"' in (await t.get(url))["body"]


async def late_errors(t: Scene) -> list[Any]:
    """Take errors once there are some; a handler may still be on its way out."""
    while not (errors := await t.errors()):
        await t.upstream("seen?path=/nothing")
    return errors


@row
async def unroute_all_ignores(t: Scene) -> None:
    """With ``ignoreErrors`` what running handlers raise later is swallowed."""
    url, gate = t.url("echo"), t.adapter.gate()
    started: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        started.append(request.url)
        await t(gate.wait())
        raise ValueError("late")

    await t.route(url, handler)
    key = await t.begin(url)
    while not started:
        await t.upstream("seen?path=/nothing")
    await t(t.mocks.unroute_all(behavior="ignoreErrors"))
    gate.open()
    assert '"path"' in (await t.outcome(key))["body"]
    assert await t.errors() == []


@row
async def unroute_all_waits(t: Scene) -> None:
    """With ``wait`` it is done when running handlers are."""
    url, gate = t.url("echo"), t.adapter.gate()
    key = await held_request(t, url, gate)
    gate.open()
    await t(t.mocks.unroute_all(behavior="wait"))
    assert (await t.outcome(key))["body"] == "held"


@row
async def chain_sees_the_changes(t: Scene) -> None:
    """After a fallback the others are matched against the request as changed."""
    url = t.url("echo")
    await t.answer("**/changed", "changed url")
    await t.answer(url, "unchanged url")

    async def handler(route: Any, request: Any) -> None:
        await t(route.fallback(url=f"{t.stage.upstream_url}/changed", method="PUT"))

    await t.route(url, handler)
    assert (await t.get(url))["body"] == "changed url"


@row
async def chain_exhausted(t: Scene) -> None:
    """When nobody is left the request goes on with all changes."""
    url = t.url("echo")

    async def first(route: Any, request: Any) -> None:
        assert request.post_data == "two"
        await t(route.fallback(headers={"x-one": "1"}))

    async def second(route: Any, request: Any) -> None:
        await t(route.fallback(method="PUT", post_data="two"))

    await t.route(url, first)
    await t.route(url, second)
    seen = (await t.get(url, method="POST", body="one"))["body"]
    assert '"method":"PUT"' in seen and '"body":"two"' in seen and '"x-one":"1"' in seen, seen


@row
async def chain_to_another_scheme(t: Scene) -> None:
    """Changes that end on another scheme fail the request and the test; nothing stalls."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        await t(route.fallback(url="https://h.test/"))

    await t.route(url, handler)
    assert "error" in await t.get(url)
    (error,) = await t.errors()
    assert isinstance(error, UsageError)
    assert "same protocol" in str(error)


@row
async def removed_while_the_chain_runs(t: Scene) -> None:
    """A handler that was removed meanwhile is skipped."""
    url = t.url("echo")
    below = await t.answer(url, "removed")

    async def handler(route: Any, request: Any) -> None:
        await t(t.mocks.unroute(url, below))
        await t(route.fallback())

    await t.route(url, handler)
    assert '"path"' in (await t.get(url))["body"]


@row
async def undecided(t: Scene) -> None:
    """A handler that returns without a decision fails the request and the test."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        """Do nothing."""

    await t.route(url, handler)
    assert "error" in await t.get(url)
    (error,) = await t.errors()
    assert isinstance(error, UndecidedError)


@row
async def decided_later(t: Scene) -> None:
    """A route that is kept may be decided after its handler returned."""
    url = t.url("echo")
    kept: list[Any] = []

    async def handler(route: Any, request: Any) -> None:
        kept.append(route)

    await t.route(url, handler)
    key = await t.begin(url)
    while not kept:
        await t.upstream("seen?path=/nothing")
    await t(kept.pop().fulfill(body="later"))
    assert (await t.outcome(key))["body"] == "later"


@row
async def throws_after_fallback(t: Scene) -> None:
    """A handler that raises after it fell back ends the chain."""
    url = t.url("echo")
    await t.answer(url, "below")

    async def handler(route: Any, request: Any) -> None:
        await t(route.fallback())
        raise ValueError("after all")

    await t.route(url, handler)
    assert "error" in await t.get(url)
    assert len(await t.errors()) == 1


@row
async def throws_after_deciding(t: Scene) -> None:
    """A handler that raises after its decision keeps that; the test hears of the error."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        await t(route.fulfill(body="done"))
        raise ValueError("after all")

    await t.route(url, handler)
    assert (await t.get(url))["body"] == "done"
    assert [str(error) for error in await late_errors(t)] == ["after all"]


@row
async def second_decision(t: Scene) -> None:
    """Deciding twice is an error; an attempt that was refused does not count."""
    url = t.url("echo")
    told: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        for options in ({"json": {}, "body": "x"}, {"body": "once"}, {"body": "twice"}):
            try:
                await t(route.fulfill(**options))
            except UsageError as error:
                told.append(str(error))

    await t.route(url, handler)
    assert (await t.get(url))["body"] == "once"
    while len(told) < 2:
        await t.upstream("seen?path=/nothing")
    assert "either body or json" in told[0]
    assert "already handled" in told[-1]


@row
async def throwing_predicate(t: Scene) -> None:
    """A predicate over the URL that raises is the test's error; the request goes on."""

    def bad(url: str) -> bool:
        raise ValueError(url)

    await t.answer(bad, "never")
    assert '"path"' in (await t.get(t.url("echo")))["body"]
    assert {type(error) for error in await t.errors()} == {ValueError}


@ours
async def unwanted_match_is_declined(t: Scene) -> None:
    """What nobody in the test wants any more passes through, without an owner."""
    url = t.url("echo")
    await t.answer(url, "once", times=1)
    first, second = await t.begin(url), await t.begin(url)
    bodies = [(await t.outcome(key))["body"] for key in (first, second)]
    assert sum(body == "once" for body in bodies) == 1
    entries = (await t.rest("/api/history"))["entries"]
    actions = sorted(each["action"] for each in entries if each["request"]["url"] == url)
    assert actions == ["fulfill", "passthrough"], actions
