"""What objects of the test side show of themselves, because errors may hold their ``repr``."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import attrs
from msgspec import Struct
from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import request, response
from trafficmock import testing
from trafficmock.testing.launch import Proxy
from trafficmock.testing.session.handlers.fixed_answer import FixedAnswer
from trafficmock.testing.session.handlers.handler_fetches import FetchOptions
from trafficmock.testing.session.handlers.mock_response import File, Mock
from trafficmock.testing.session.observation.request_state import RequestState, ResponseState

_HOLDS_TRAFFIC = re.compile(
    r"Pairs|Headers|bytes|\bRaw\b|HarEntry|Wire(Request|Response)|deque|PostData"
    r"|Serialized(Request|Response|Overrides)\b|RecordedRe(quest|sponse)\b|dict\[str, Any\]"
)
"""Types of fields with headers, bodies or messages."""

_SECRET_NAMES = {"token", "json", "body", "headers", "post_data"}


def _classes() -> Iterator[type]:
    for module in pkgutil.walk_packages(testing.__path__, f"{testing.__name__}."):
        loaded = importlib.import_module(module.name)
        for _, each in inspect.getmembers(loaded, inspect.isclass):
            if each.__module__ == module.name:
                yield each


def _holds_traffic(name: str, kind: object) -> bool:
    return name in _SECRET_NAMES or _HOLDS_TRAFFIC.search(str(kind)) is not None


def _shown(each: type) -> Iterator[str]:
    """Yield the fields with traffic that the generated ``repr`` of a class shows."""
    code = getattr(each.__repr__, "__code__", None)
    if code is not None and code.co_filename.startswith("<attrs generated"):
        shown = [(field.name, field.type) for field in attrs.fields(each) if field.repr]
    elif issubclass(each, Struct) and each.__repr__ is Struct.__repr__:
        shown = list(each.__annotations__.items())
    else:
        return
    yield from (name for name, kind in shown if _holds_traffic(name, kind))


class ReprTests(SynchronousTestCase):
    """No ``repr`` has headers, bodies or tokens."""

    def test_rule(self) -> None:
        """The classes of the test side leave such fields out of it."""
        classes = list(_classes())
        self.assertGreater(len(classes), 60)
        found = [
            f"{each.__module__}.{each.__qualname__}.{name}"
            for each in classes
            for name in _shown(each)
        ]
        self.assertEqual(found, [])

    def test_objects(self) -> None:
        """Neither do the objects that a user meets, and those within them."""
        secret = "c2tfbGl2"
        asked = request(content=secret.encode(), authorization=secret)
        state = RequestState("r1", "shop", asked, 1)
        answered = ResponseState(state, response(200, secret.encode(), cookie=secret))
        state.answer(answered)
        mock = Mock(headers={"a": secret}, body=secret, response=answered)
        for each in (
            *(state, answered, mock),
            Proxy("http://p", secret),
            FixedAnswer.of(Mock(json={"key": secret}, headers={"a": secret})),
            FetchOptions(headers={"a": secret}, post_data=secret),
            File("a.txt", secret.encode()),
            state.copy(),
        ):
            with self.subTest(type(each).__name__):
                self.assertNotIn(secret, repr(each))
