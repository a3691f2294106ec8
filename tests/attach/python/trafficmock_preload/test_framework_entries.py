"""Where inbound requests begin and end."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any
from wsgiref.util import FileWrapper

from trafficmock_preload.current_context import TestContexts
from trafficmock_preload.entries.framework_entries import change_asgi, change_wsgi, closing
from twisted.trial.unittest import SynchronousTestCase


def generated() -> Iterator[bytes]:
    yield b"x"


class WsgiTests(SynchronousTestCase):
    """A class of WSGI applications."""

    def setUp(self) -> None:
        self.contexts = TestContexts(30)
        self.seen: list[str | None] = []
        contexts, seen = self.contexts, self.seen

        class Application:
            def __call__(self, environ: Any, _: Any) -> Any:
                if environ["PATH_INFO"] == "/fails":
                    raise ValueError
                found = contexts.current()
                seen.append(None if found is None else found.id)
                return generated()

        module = ModuleType("framework")
        module.__dict__["Application"] = Application
        change_wsgi(module, self.contexts, "Application")
        self.application = Application()
        self.addCleanup(self.contexts.enter, None)

    def ask(self, path: str = "/", **environ: str) -> Any:
        return self.application({"PATH_INFO": path, **environ}, None)

    def test_contexts(self) -> None:
        """Each request has its own; one without has none, also in the same thread."""
        self.ask(HTTP_BAGGAGE="trafficmock.test=a")
        self.ask(HTTP_COOKIE="trafficmock_test=b")
        self.ask()
        self.assertEqual(self.seen, ["a", "b", None])

    def test_again(self) -> None:
        """The next request of the same test is one of its own, in the same thread too."""
        self.ask(HTTP_BAGGAGE="trafficmock.test=a").close()
        first = self.contexts.running()
        self.ask(HTTP_BAGGAGE="trafficmock.test=a")
        second = self.contexts.running()
        assert second is not None
        self.assertIsNot(first, second)
        self.assertIsNone(second.closed_at)

    def test_body(self) -> None:
        """The context lasts while the body is sent, and its time begins at the end of it."""
        body = self.ask(HTTP_BAGGAGE="trafficmock.test=a")
        running = self.contexts.running()
        assert running is not None
        self.assertEqual((list(body), running.closed_at), ([b"x"], None))
        body.close()
        self.assertIsNotNone(running.closed_at)

    def test_failure(self) -> None:
        """A request that fails is over."""
        self.assertRaises(ValueError, self.ask, "/fails", HTTP_BAGGAGE="trafficmock.test=a")
        running = self.contexts.running()
        assert running is not None
        self.assertIsNotNone(running.closed_at)


class AsgiTests(SynchronousTestCase):
    """A class of ASGI applications."""

    def setUp(self) -> None:
        self.contexts = TestContexts(30)
        contexts = self.contexts

        class Application:
            async def __call__(self, _: Any, __: Any, send: Any) -> str | None:
                await send({"type": "http.response.body", "more_body": True})
                found = contexts.current()
                assert found is None or found.closed_at is None
                await send({"type": "http.response.body"})
                assert found is None or found.closed_at is not None
                return None if found is None else found.id

        module = ModuleType("framework")
        module.__dict__["Application"] = Application
        change_asgi(module, self.contexts, "Application")
        self.application: Any = Application()

    def ask(self, *headers: tuple[bytes, bytes], **scope: Any) -> str | None:
        async def send(_: Any) -> None:
            """Take a message."""

        scope = {"type": "http", "headers": list(headers), **scope}
        call = self.application(scope, None, send)
        try:
            call.send(None)
        except StopIteration as ended:
            self.assertIsNone(self.contexts.running())
            found: str | None = ended.value
            return found
        raise AssertionError("it waits")

    def test_contexts(self) -> None:
        """Each request has its own, from headers that may stand there several times."""
        self.assertEqual(self.ask((b"baggage", b"x=1"), (b"baggage", b"trafficmock.test=a")), "a")
        self.assertEqual(self.ask((b"cookie", b"x=1"), (b"cookie", b"trafficmock_test=b")), "b")
        self.assertIsNone(self.ask())
        self.assertIsNone(self.ask(type="lifespan", headers=None))


class ClosingTests(SynchronousTestCase):
    """The end of a body."""

    def setUp(self) -> None:
        self.ends = 0

    def end(self) -> None:
        self.ends += 1

    def test_list(self) -> None:
        """A list is complete at once, and stays a list."""
        body = [b"x"]
        self.assertIs(closing(body, self.end), body)
        self.assertEqual(self.ends, 1)

    def test_object(self) -> None:
        """An object stays what it is, with its own close."""
        with open("f", "w+b") as opened:  # noqa: PTH123 - a file object is the point
            body = FileWrapper(opened)
            self.assertIs(closing(body, self.end), body)
            body.close()
            self.assertEqual((opened.closed, self.ends), (True, 1))

    def test_generator(self) -> None:
        """A generator is closed, too."""
        body = closing(generated(), self.end)
        self.assertEqual((list(body), self.ends), ([b"x"], 0))
        body.close()
        self.assertEqual(self.ends, 1)
