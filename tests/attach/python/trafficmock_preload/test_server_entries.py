"""Where servers call an application, with classes that stand for theirs."""

from __future__ import annotations

import asyncio
from types import ModuleType, SimpleNamespace
from typing import Any

from trafficmock_preload.current_context import TestContexts
from trafficmock_preload.entries import server_entries
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

ENVIRON = {"HTTP_BAGGAGE": "trafficmock.test=a"}


def module_with(**members: Any) -> ModuleType:
    module = ModuleType("server")
    module.__dict__.update(members)
    return module


class ServerCase(SynchronousTestCase):
    """Notes the context in which an application runs."""

    def setUp(self) -> None:
        self.contexts = TestContexts(30)
        self.seen: list[str | None] = []
        self.addCleanup(self.contexts.enter, None)

    def note(self, *_: Any) -> str:
        found = self.contexts.current()
        self.seen.append(None if found is None else found.id)
        return "answer"

    def assert_over(self, seen: list[str | None]) -> None:
        """Each call saw its context, and nothing of it is left."""
        self.assertEqual((self.seen, self.contexts.running()), (seen, None))


class WsgiServerTests(ServerCase):
    """Servers that have a thread for a request."""

    def test_environ(self) -> None:
        """The context lasts from the making of the environ to the end of the request."""
        note = self.note

        class Task:
            def __init__(self, environ: dict[str, str]) -> None:
                self.environ = environ

            def read(self) -> dict[str, str]:
                return self.environ

            def serve(self) -> str:
                self.read()
                return note()

        server_entries.change_environ(
            module_with(Task=Task), self.contexts, "Task", "read", "serve"
        )
        self.assertEqual(Task(ENVIRON).serve(), "answer")
        Task({}).serve()
        self.assert_over(["a", None])

    def test_gunicorn(self) -> None:
        class Response:
            def close(self) -> None:
                pass

        module = module_with(create=lambda environ: (Response(), environ), Response=Response)
        server_entries.change_gunicorn(module, self.contexts)
        response, _ = module.__dict__["create"](ENVIRON)
        self.note()
        running = self.contexts.running()
        response.close()
        self.assertIsNotNone(running.closed_at if running else None)
        module.__dict__["create"]({})
        self.note()
        self.assert_over(["a", None])

    def test_cheroot(self) -> None:
        note = self.note

        class Gateway:
            env = ENVIRON

            def respond(self) -> None:
                note()
                raise ValueError

        server_entries.change_cheroot(module_with(Gateway=Gateway), self.contexts)
        self.assertRaises(ValueError, Gateway().respond)
        self.assert_over(["a"])


class AsgiServerTests(ServerCase):
    """Servers that have a task for a request."""

    async def application(self, *_: Any) -> None:
        self.note()

    def test_application(self) -> None:
        """What a server calls is wrapped, whatever it is."""
        application = self.application

        class Server:
            def __init__(self) -> None:
                self.app = application

        module = module_with(ASGIWrapper=Server, WSGIWrapper=SimpleNamespace(run_app=None))
        server_entries.change_hypercorn(module, self.contexts)
        scope = {"type": "http", "headers": [(b"cookie", b"trafficmock_test=b")]}
        for each in (scope, {"type": "lifespan"}):
            asyncio.run(Server().app(each, None, None))
        self.assert_over(["b", None])

    def test_sanic(self) -> None:
        note = self.note

        class HttpProtocol:
            def __init__(self) -> None:
                self.request_handler = self.handle_request

            async def handle_request(self, _: Any) -> None:
                note()

        server_entries.change_sanic(module_with(HttpProtocol=HttpProtocol), self.contexts)
        lines = {"baggage": ["x=1", "trafficmock.test=c"]}
        headers = SimpleNamespace(getall=lines.get)
        asyncio.run(
            HttpProtocol().request_handler(SimpleNamespace(headers=headers, method="GET", path="/"))
        )
        self.assert_over(["c"])

    def test_tornado(self) -> None:
        note = self.note

        class RequestHandler:
            request = SimpleNamespace(
                method="GET",
                path="/",
                headers=SimpleNamespace(
                    get_list=lambda name: ["trafficmock_test=d"] if name == "cookie" else []
                ),
            )

            async def _execute(self) -> None:
                note()

        server_entries.change_tornado(module_with(RequestHandler=RequestHandler), self.contexts)
        asyncio.run(RequestHandler()._execute())
        self.assert_over(["d"])


class DeferredTests(ServerCase):
    """Callbacks run in the context in which they were added, whoever fires the Deferred."""

    def setUp(self) -> None:
        super().setUp()
        for name in ("addCallbacks", "addCallback", "addErrback", "addBoth"):
            self.patch(Deferred, name, getattr(Deferred, name))
        server_entries.change_deferreds(module_with(Deferred=Deferred), self.contexts)

    def test_callbacks(self) -> None:
        fired: Deferred[int] = Deferred()
        failed: Deferred[int] = Deferred()
        self.contexts.enter(self.contexts.read("trafficmock.test=a", None, None))
        fired.addCallback(self.note)
        failed.addCallbacks(self.note, errback=self.note)
        self.contexts.enter(None)
        fired.addCallback(self.note)
        fired.callback(1)
        failed.errback(ValueError())
        self.assertEqual(self.successResultOf(failed), "answer")
        self.assert_over(["a", None, "a"])
