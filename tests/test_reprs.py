"""What objects show of themselves, because errors and logs may hold their ``repr``."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import attrs
from msgspec import Raw, Struct
from msgspec.structs import replace as replaced
from twisted.trial.unittest import SynchronousTestCase

import trafficmock
from tests.testing.fakes import request, response
from trafficmock.testing.launch import Proxy
from trafficmock.testing.session.handlers.handler_fetches import FetchOptions
from trafficmock.testing.session.observation.request_state import RequestState, ResponseState
from trafficmock.wire.inbound import RequestResponse
from trafficmock.wire.payloads.answer import Written
from trafficmock.wire.payloads.answer_options import FileContent
from trafficmock.wire.payloads.quiet_repr import WORDS, quiet_repr
from trafficmock.wire.payloads.serialized_response import SerializedError

_HOLDS_TRAFFIC = re.compile(
    r"Pairs|Headers|\bbytes|\bRaw\b|PostData|dict\[str, (Any|str)\]|Mapping\[str, (Any|str)\]"
    r"|\bBeginning\b|list\[Any\]"
)
"""Types of fields with headers or bodies. Those with whole messages show what these show."""

_CALLED = re.compile(r"(Callable|typing\.Callable|collections\.abc\.Callable)\[")
"""Functions show no traffic, whatever they take and return."""

_SECRET_NAMES = {"token", "json", "body", "headers", "post_data", "credentials", "document"}

_TEXTS_OF_STRUCTS = {"url", "data", "detail", "message", "text", "failure", "reason", "stack"}
"""Texts of traffic in what the wire and the history have, besides."""

_NO_TRAFFIC = {
    "dashboard.static_files.Page": "a file of ours",
    "matching.patterns.js_regex_syntax.Atom": "the pattern of a route",
    "matching.patterns.linear_regex.LinearPattern": "the pattern of a route",
    "texts.named_fields.NamedFields": "the names of headers",
    "telemetry.finished_span.TestSpan": "ids",
    "telemetry.random_ids.RandomIds": "ids",
    "telemetry.trace_parent.TraceParent": "ids",
}
"""Classes whose bytes or headers are no traffic, and what they are."""


def _classes() -> Iterator[type]:
    for module in pkgutil.walk_packages(trafficmock.__path__, f"{trafficmock.__name__}."):
        if module.name.endswith("__main__"):
            continue
        loaded = importlib.import_module(module.name)
        for _, each in inspect.getmembers(loaded, inspect.isclass):
            if each.__module__ == module.name:
                yield each


def _holds_traffic(name: str, kind: object) -> bool:
    if _CALLED.match(str(kind)):
        return False
    return name.lstrip("_") in _SECRET_NAMES or _HOLDS_TRAFFIC.search(str(kind)) is not None


def _shown(each: type) -> Iterator[str]:
    """Yield the fields with traffic that the generated ``repr`` of a class shows."""
    code = getattr(each.__repr__, "__code__", None)
    if code is not None and code.co_filename.startswith("<attrs generated"):
        shown = [(field.name, field.type) for field in attrs.fields(each) if field.repr]
    elif issubclass(each, Struct) and each.__repr__ is Struct.__repr__:
        shown = list(each.__annotations__.items())
        yield from (name for name, _ in shown if name in _TEXTS_OF_STRUCTS)
    else:
        return
    yield from (name for name, kind in shown if _holds_traffic(name, kind))


def _is_quiet(kind: type) -> bool:
    shows: object = kind.__repr__
    return shows is quiet_repr


def _is_word(name: str) -> bool:
    return name in WORDS or name.endswith("_id")


class ReprTests(SynchronousTestCase):
    """No ``repr`` has headers, bodies or tokens."""

    def test_rule(self) -> None:
        """All classes leave such fields out of it."""
        classes = list(_classes())
        self.assertGreater(len(classes), 600)
        found = [
            f"{each.__module__}.{each.__qualname__}.{name}"
            for each in classes
            if f"{each.__module__}.{each.__qualname__}".partition(".")[2] not in _NO_TRAFFIC
            for name in _shown(each)
        ]
        self.assertEqual(found, [])

    def test_structs(self) -> None:
        """What crosses the wire, or is recorded, shows none of its texts, whatever they are."""
        secret = "c2tfbGl2"
        quiet = [each for each in _classes() if _is_quiet(each)]
        self.assertGreater(len(quiet), 130)
        raw = secret.encode()
        for each in quiet:
            for value in (secret, raw, Raw(raw), [secret], {secret: secret}):
                fields = each.__struct_fields__  # type: ignore[attr-defined]
                made = each(**dict.fromkeys(fields, value))
                made = replaced(made, **{name: "id" for name in fields if _is_word(name)})
                with self.subTest(each.__name__, kind=type(value).__name__):
                    self.assertNotIn(secret, repr(made))

    def test_words(self) -> None:
        """Ids, numbers, words and nested ones are shown, so that a log says what it is about."""
        error = SerializedError("Error", "at http://h.test/?token=c2tfbGl2", code="ECONNREFUSED")
        report = RequestResponse("r1", ok=False, error=error)
        self.assertEqual(
            repr(report),
            "RequestResponse(request_id='r1', ok=False, "
            "error=SerializedError(name=…, message=…, code='ECONNREFUSED'))",
        )

    def test_objects(self) -> None:
        """Neither do the objects that a user meets, and those within them."""
        secret = "c2tfbGl2"
        asked = request(content=secret.encode(), authorization=secret)
        state = RequestState("r1", "shop", asked, asked.url, 1)
        answered = ResponseState(state, response(200, secret.encode(), cookie=secret))
        state.answer(answered)
        for each in (
            *(state, answered),
            Proxy("http://p", secret),
            FileContent(secret.encode(), "a/b"),
            FetchOptions(headers={"a": secret}, post_data=secret),
            Written("fulfill", {"body": secret.encode()}),
            state.copy(),
        ):
            with self.subTest(type(each).__name__):
                self.assertNotIn(secret, repr(each))
