"""Parts of the test side that only compute, and belong to no session."""

from asyncio import AbstractEventLoop
from functools import partial
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from tests.testing.fakes import request
from trafficmock.testing.adapters.asyncio_adapter import AsyncioAdapter
from trafficmock.testing.adapters.background_connection import BackgroundConnection
from trafficmock.testing.adapters.proxy_address import websocket_url
from trafficmock.testing.errors import UsageError
from trafficmock.testing.promise import Promise, all_of
from trafficmock.testing.session.arguments.callables import check_handler
from trafficmock.testing.session.worker_client import decode_for_worker
from trafficmock.wire import codec, outbound


class PromiseTests(SynchronousTestCase):
    """A value that is there later."""

    def test_settled_once(self) -> None:
        """The first value stays, and watchers hear it whenever they come."""
        promise: Promise[int] = Promise()
        values: list[int] = []
        promise.watch(lambda done: values.append(done.value))
        self.assertTrue(promise.resolve(1))
        self.assertFalse(promise.reject(ValueError()) or promise.resolve(2))
        promise.watch(lambda done: values.append(done.value))
        self.assertEqual(values, [1, 1])

    def test_all(self) -> None:
        """All of several waits for the last, and fails with the first error."""
        several: list[Promise[int]] = [Promise(), Promise(), Promise()]
        together = all_of(several)
        several[2].reject(ValueError("two"))
        several[1].reject(ValueError("one"))
        self.assertFalse(together.done)
        several[0].resolve(0)
        self.assertEqual(str(together.error), "one")
        self.assertTrue(all_of([]).done)

    def test_cancel(self) -> None:
        """Giving up is reported while it is open, and not later."""
        cancelled: list[int] = []
        promise: Promise[int] = Promise(on_cancel=lambda: cancelled.append(1))
        promise.cancel()
        promise.resolve(1)
        promise.cancel()
        self.assertEqual(cancelled, [1])


class CodecTests(SynchronousTestCase):
    """What the proxy sends."""

    @profile(200)
    @given(st.binary(max_size=60) | st.text(max_size=20).map(str.encode))
    def test_any_bytes(self, payload: bytes) -> None:
        """No bytes raise; invalid ones give no message."""
        decode_for_worker(payload)

    @profile(200)
    @given(st.integers(0, 200), st.binary(max_size=3))
    def test_damaged(self, at: int, instead: bytes) -> None:
        """Damaged messages do not raise."""
        good = codec.encode(outbound.RequestObserved("r", request(content=b"abc", a="b"), "app"))
        decode_for_worker(good[:at] + instead + good[at + 1 :])

    def test_unknown(self) -> None:
        """Types and keys that we do not know are no harm; lone surrogates are replaced."""
        self.assertIsNone(decode_for_worker(b'{"type":"newer"}'))
        payload = b'{"type":"proxy:error","code":"c","message":"\\ud800","newer":1}'
        message = decode_for_worker(payload)
        assert isinstance(message, outbound.ProxyError)
        self.assertEqual(message.message, "\ufffd")


class HandlerTests(SynchronousTestCase):
    """What may be a handler."""

    def check(self, handler: Any, most: int = 2) -> None:
        check_handler(handler, "(route, request)", most)

    def test_refused(self) -> None:
        """A function that cannot be called so is refused with its file and line."""

        def no_parameters() -> None: ...

        def three(_route: Any, _request: Any, _more: Any) -> None: ...

        for handler in (no_parameters, three, partial(no_parameters), lambda *, route: route):
            error = self.assertRaises(TypeError, self.check, handler)
            self.assertIsInstance(error, UsageError)
            self.assertRegex(
                str(error), r"handler .*\(test_parts\.py:\d+\) is called as a function"
            )
        self.assertRaises(TypeError, self.check, lambda route, request: (route, request), 1)
        self.assertRaises(UsageError, self.check, {"json": 1})

    def test_accepted(self) -> None:
        """Functions with defaults or ``*args``, methods, mocks, partials and builtins may be."""

        class Handler:
            def __call__(self, route: Any) -> None: ...

            async def method(self, route: Any, request: Any = None) -> None: ...

        seen: list[Any] = []
        for handler in (
            *(lambda *_: None, lambda _route, *, flag=1: flag, lambda _route, _request: None),
            *(Handler(), Handler().method, partial(lambda _flag, _route: None, 1)),
            *(mock.Mock(), mock.AsyncMock(), mock.create_autospec(lambda route: route)),
            *(seen.append, print, dict.fromkeys),
        ):
            self.check(handler)


class PlaceTests(SynchronousTestCase):
    """Where the proxy is."""

    def test_address(self) -> None:
        """The coordinator is at ``/ws`` of the proxy's host."""
        self.assertEqual(websocket_url("https://u:p@h:1/x?y#z"), "wss://u:p@h:1/ws")
        for wrong in ("h:1", "ftp://h", "http://"):
            with self.assertRaises(UsageError):
                websocket_url(wrong)


class LoopTests(SynchronousTestCase):
    """Awaited calls where no loop of asyncio runs, as on trio."""

    def test_no_loop(self) -> None:
        """The error names the API that works there."""
        background = cast(BackgroundConnection, SimpleNamespace(loop=None, call=None, post=None))
        adapter = AsyncioAdapter(background, cast(AbstractEventLoop, object()))
        with self.assertRaisesRegex(UsageError, "mocks.* of trafficmock.testing.sync"):
            adapter.wait_for(cast(Any, None))
