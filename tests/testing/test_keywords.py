"""Misspelt keywords of the test API."""

import inspect
import traceback
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.testing import aio, llm, self_attachment, sync, tx
from trafficmock.testing.errors import UnknownArgumentError, UsageError
from trafficmock.testing.keywords import checks_keywords
from trafficmock.testing.launch import Proxy, attached_application, start_proxy
from trafficmock.testing.objects.call_place import warn_of_capture
from trafficmock.testing.session.arguments.url_matchers import make_matcher

FUNCTIONS = (
    *(sync.mocks, aio.mocks, tx.mocks, tx.connect),
    *(attached_application, start_proxy, Proxy.environment, self_attachment.attach_self),
)
MODULES = (sync, aio, tx, llm)
PLACES = {each.__name__ for each in MODULES}
OBJECTS = "trafficmock.testing.objects."


def with_keywords() -> Iterator[tuple[Callable[..., Any], int, str]]:
    """Give each call with keywords, how many arguments stand before them, and one of them."""
    classes = [each for module in MODULES for each in vars(module).values()]
    public = [
        method
        for kind in classes
        if inspect.isclass(kind)
        if kind.__module__ in PLACES or kind.__module__.startswith(OBJECTS)
        for name, method in vars(kind).items()
        if inspect.isfunction(method) and not name.startswith("_")
    ]
    every: tuple[Callable[..., Any], ...] = (*FUNCTIONS, *public)
    for function in every:
        parameters = inspect.signature(function).parameters.values()
        named = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        if named:
            before = sum(each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters)
            yield function, before, max(named, key=len)


class KeywordTests(SynchronousTestCase):
    """A keyword that a call does not know."""

    def test_suggestion(self) -> None:
        """Each call with keywords names the one that a misspelt one may mean."""
        tried = set()
        for function, before, name in with_keywords():
            tried.add(function.__qualname__)
            with self.assertRaisesRegex(UnknownArgumentError, f"did you mean '{name}'"):
                function(*[None] * before, **{f"{name}e": 1})
        wanted = {
            *("AsyncTrafficMock.mock", "TrafficMock.mock", "AsyncRoute.fulfill", "Route.fulfill"),
            *("Route.continue_", "Stream.sse", "WebSocketRoute.close", "ModelResponse.finish"),
        }
        self.assertLessEqual(wanted, tried)

    def test_text(self) -> None:
        """The text begins with the call, and ends with what it knows."""
        route: Any = sync.Route
        error = self.assertRaises(UnknownArgumentError, route.abort, None, delya=1)
        self.assertEqual(
            str(error),
            "abort: 'delya' is unknown; did you mean 'delay'? The arguments are: error_code, delay",
        )

    def test_classes(self) -> None:
        """It is an error of trafficmock and, as Python's own, a ``TypeError``."""
        mocks: Any = aio.AsyncTrafficMock
        error = self.assertRaises(TypeError, mocks.mock, None, "**", match_heders={})
        self.assertIsInstance(error, UsageError)
        self.assertIn("did you mean 'match_headers'?", str(error))

    def test_place(self) -> None:
        """The traceback has the line of the call, and behind it only frames that pytest hides."""
        route: Any = sync.Route
        try:
            route.fulfill(None, contenttype="a/b")
        except UnknownArgumentError as error:
            here, *ours = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        self.assertIs(here.f_code, self.test_place.__func__.__code__)  # type: ignore[attr-defined] # of a method
        self.assertTrue(all(frame.f_globals.get("__tracebackhide__") for frame in ours))

    def test_known(self) -> None:
        """What a call knows reaches it, those of its conditions and settings included."""

        def called(url: str, *, method: str = "", **match: Any) -> Any:
            return url, method, match

        called.__annotations__["match"] = "Unpack[MatchArguments]"
        match = {"match_query": {"a": 1}}
        self.assertEqual(checks_keywords(called)("u", method="GET", **match), ("u", "GET", match))

    def test_filter(self) -> None:
        """So do the keys of a filter."""
        error = self.assertRaises(UsageError, make_matcher, {"url": "**", "metod": "GET"})
        self.assertEqual(
            str(error),
            "'metod' is unknown; did you mean 'method'? The keys of a filter are: url, method, "
            "client_id",
        )

    def test_warning(self) -> None:
        """A warning about a call is shown at the line of the call."""
        session: Any = SimpleNamespace(recorded=SimpleNamespace(capture="handled"))
        # A name within the package, as the calls of its objects have.
        scope: dict[str, Any] = {"__name__": "trafficmock.testing.x", "warn": warn_of_capture}
        exec("def call(session):\n    warn(session)", scope)  # noqa: S102 - our own text
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            scope["call"](session)
        self.assertEqual(said[0].filename, __file__)
