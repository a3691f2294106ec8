"""Where a request without a context is sent from."""

import asyncio
import json
import os
import threading
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from multiprocessing.pool import ThreadPool
from pathlib import Path
from types import ModuleType
from typing import Any

from trafficmock_preload.background.thread_contexts import change_threading
from trafficmock_preload.current_context import TestContexts
from trafficmock_preload.sending_code import coded, start_of_thread
from twisted.trial.unittest import SynchronousTestCase

HERE = "test_sending_code.py:"


def told(*requests: Any) -> Any:
    return json.loads(b64decode(coded(*(requests or (None, None)))))


def wsgi(environ: Any) -> Any:
    return told() if environ else None


class SendingCodeTests(SynchronousTestCase):
    """What runs the code, and what it calls."""

    def found_in(self, run: Any) -> Any:
        found: list[Any] = []
        run(lambda: found.append(told()))
        return found[0]

    def test_main(self) -> None:
        origin = told()
        self.assertEqual(origin["kind"], "main")
        self.assertIn(HERE, origin["place"])
        self.assertTrue(origin["place"].endswith(" in told"), origin)

    def test_thread(self) -> None:
        """A thread says its name and where it was started."""
        module = ModuleType("threads")
        module.__dict__.update(vars(threading))
        module.__dict__["Thread"] = type("Thread", (threading.Thread,), {})
        change_threading(module, TestContexts(30))

        def run(target: Any) -> None:
            thread = module.Thread(target=target, name="analytics-worker")
            thread.start()
            thread.join()

        origin = self.found_in(run)
        self.assertEqual((origin["kind"], origin["name"]), ("thread", "analytics-worker"))
        self.assertIn(HERE, origin["started"])
        self.assertNotIn("atImport", origin)

    def test_pools(self) -> None:
        with ThreadPoolExecutor(1) as executor, ThreadPool(1) as pool:
            for run in (lambda act: executor.submit(act).result(), pool.apply):
                self.assertEqual(self.found_in(run)["kind"], "pool")

    def test_timer(self) -> None:
        def run(act: Any) -> None:
            timer = threading.Timer(0, act)
            timer.start()
            timer.join()

        self.assertEqual(self.found_in(run)["kind"], "timer")

    def test_loop(self) -> None:
        """A task has a name, a callback of the loop none."""

        async def poll() -> Any:
            return told()

        async def later() -> Any:
            future = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_soon(lambda: future.set_result(told()))
            return await future

        loops: list[Any] = [asyncio.SelectorEventLoop()]
        if find_spec("uvloop") is not None:
            loops.append(import_module("uvloop").Loop())
        for loop in loops:
            self.addCleanup(loop.close)
            origin = loop.run_until_complete(poll())
            self.assertEqual(origin["kind"], "task")
            self.assertIn("poll", origin["name"])
            self.assertEqual(loop.run_until_complete(later())["kind"], "timer")

    def test_request(self) -> None:
        """Code of a request without a context names it, without its query."""
        origin = wsgi({"REQUEST_METHOD": "GET", "PATH_INFO": "/cart?token=1"})
        self.assertEqual(origin["kind"], "request")
        self.assertEqual(origin["inbound"], {"method": "GET", "path": "/cart", "at": 0})

    def test_queue(self) -> None:
        """A job of a library for queues names the library."""
        found: list[Any] = []
        names = {"__name__": "celery.app.trace", "told": told, "found": found}
        exec("found.append(told())", names)  # noqa: S102 - a module of that name
        self.assertEqual((found[0]["kind"], found[0]["name"]), ("queue", "celery"))

    def test_lines(self) -> None:
        """Code that is known already is told by the line that it is at."""
        names: dict[str, Any] = {"start_of_thread": start_of_thread}
        source = "def twice():\n return [\n  start_of_thread(),\n  start_of_thread()\n ]"
        exec(compile(source, "/srv/shop/views.py", "exec"), names)  # noqa: S102
        places = [place for place, _ in names["twice"]()]
        self.assertEqual(places, [f"shop/views.py:{line} in twice" for line in (3, 4)])

    def test_removed_directory(self) -> None:
        """Code is told where the working directory is gone."""
        gone = Path(self.mktemp()).resolve()
        gone.mkdir()
        self.addCleanup(os.chdir, Path.cwd())
        os.chdir(gone)
        gone.rmdir()
        names: dict[str, Any] = {"__name__": "shop.views", "start_of_thread": start_of_thread}
        exec(compile("place = start_of_thread()", "/srv/shop/views.py", "exec"), names)  # noqa: S102
        self.assertEqual(names["place"], ("shop/views.py:1 in <module>", True))

    def test_inbound(self) -> None:
        """What came in is told: whose context is over, and which had one last."""
        contexts = TestContexts(30)
        contexts.read("trafficmock.test=a", None, None, (b"POST", b"/buy"))
        assert contexts.latest is not None
        origin = told(contexts.latest.inbound, contexts.latest.inbound)
        self.assertEqual(origin["kind"], "expired")
        for key in ("inbound", "carried"):
            self.assertEqual((origin[key]["method"], origin[key]["path"]), ("POST", "/buy"))
