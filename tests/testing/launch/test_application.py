"""Starting an application for tests: until it is ready, with its output, to its end."""

import contextlib
import os
import re
import select
import socket
import sys
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.testing import runs
from trafficmock.redaction.redactor import Redactor
from trafficmock.testing.errors import ApplicationError, UsageError
from trafficmock.testing.launch import Proxy, application, attached_application
from trafficmock.testing.launch.application import KEPT_BYTES
from trafficmock.testing.redacted_texts import redacted_texts

FLOOD = Path(runs.APPLICATIONS / "flood.py")
URL = re.compile(r"serves at (http://\S+)\n")


class Unattached(Proxy):
    """A proxy that leaves the environment as it is."""

    def environment(self, client_id: str | None = None, **_: Any) -> dict[str, str]:
        return {**os.environ, "NAME": client_id or ""}


def started(*words: str, **options: Any) -> Any:
    return attached_application([sys.executable, *words], proxy=Unattached("http://p"), **options)


class StartTests(SynchronousTestCase):
    """How it begins.

    :ivar marks: what the proxy does with texts; ``None`` for one that does not answer.
    """

    marks: Redactor | None = Redactor()

    def setUp(self) -> None:
        self.patch(application, "redacted_texts", self.redacted)

    def redacted(self, texts: list[str], url: str, token: str | None) -> list[str]:
        if self.marks is None:
            return redacted_texts(texts, "no URL", token)
        self.assertEqual((url, token), ("http://p", None))
        return [self.marks.text(text) for text in texts]

    def test_by_output(self) -> None:
        """A pattern gives the address, as soon as the application has written it."""
        with started(str(FLOOD), "0", ready=URL, client_id="shop") as shop:
            with urllib.request.urlopen(f"{shop.url}/1000") as answer:
                self.assertEqual(answer.read(), b"shop")
            self.assertIn("serves at", shop.output())

    def test_by_url(self) -> None:
        """So does a URL with a free port, with a path or without; any status will do."""
        for path in ("", "/10", "/missing"):
            with (
                self.subTest(path),
                started(str(FLOOD), "{port}", ready="http://127.0.0.1:{port}" + path) as shop,
            ):
                self.assertRegex(shop.url, rf"http://127\.0\.0\.1:\d+{path}$")
                urllib.request.urlopen(shop.url.removesuffix(path) + "/1").close()

    def failure(self, *words: str, **options: Any) -> str:
        with self.assertRaises(ApplicationError) as caught, started(*words, **options):
            pass
        return str(caught.exception)

    def test_ended(self) -> None:
        """One that ends too early is an error with its status and its last lines."""
        code = "import sys; print('line\\n' * 100, 'no such table'); sys.exit(3)"
        text = self.failure("-c", code, ready="http://127.0.0.1:9/")
        self.assertIn("ended with status 3 before it was ready (http://127.0.0.1:9/)", text)
        self.assertTrue(text.endswith("no such table"), text)
        self.assertIn("lines before)", text)

    def test_secrets(self) -> None:
        """What a failure shows of the output has marks; :meth:`Application.output` is exact.

        Where the proxy does not answer, which makes the marks, a failure shows nothing of it.
        """
        line = '{"token":{"v":"s-4711"}}'
        code = f"print('up'); print({line!r}, flush=True); input()"
        ready = re.compile("4711")
        with started("-c", code, ready=ready, client_id="shop") as shop:
            self.assertIn("s-4711", shop.output())
            self.assertRegex(shop.new_output(), r'^up\n\{"token":\{"v":"\[redacted:\w+\]"\}\}$')
        text = self.failure("-c", "print('password=s-4711')", ready="http://127.0.0.1:9/")
        self.assertRegex(text, r"It wrote:\npassword=\[redacted:\w+\]$")
        secret = ["--token", "s-4711"]
        text = self.failure("-c", "0", *secret, ready="http://127.0.0.1:9/?key=s-4711")
        self.assertRegex(text, r"-c 0 --token \[redacted:\w+\]` ended .*127\.0\.0\.1:9/\?…")
        self.assertNotIn("s-4711", text)
        with (
            self.assertRaises(ApplicationError) as caught,
            attached_application(["no-such", *secret], proxy=Unattached("http://p")),
        ):
            pass
        self.assertRegex(str(caught.exception), r"cannot start `no-such --token \[redacted:\w+\]`")
        self.marks = None
        text = self.failure("-c", "print('s-47' + '11')", ready="http://127.0.0.1:9/")
        self.assertIn("It wrote:\n(the proxy could not remove its secrets: ", text)
        self.assertNotIn("s-4711", text)

    def test_late(self) -> None:
        """One that is not ready in time is an error, and is stopped."""
        code = "import os, time; print(os.getpid(), 'waits', flush=True); time.sleep(600)"
        text = self.failure("-c", code, ready=re.compile("never"), timeout=1)
        self.assertIn("was not ready (/never/ in its output) after 1 s", text)
        (pid,) = re.findall(r"(\d+) waits", text)
        self.assertRaises(ProcessLookupError, os.kill, int(pid), 0)

    def test_not_there(self) -> None:
        """A program that does not exist is named."""
        with (
            self.assertRaises(ApplicationError) as caught,
            attached_application(["no-such-program", "x"], proxy=Unattached("http://p")),
        ):
            pass
        self.assertIn("cannot start `no-such-program x`: ", str(caught.exception))

    def test_taken(self) -> None:
        """A port that another process has is no application of ours."""
        with closing(socket.create_server(("127.0.0.1", 0))) as taken:
            url = f"http://127.0.0.1:{taken.getsockname()[1]}"
            text = self.failure("-c", "0", ready=url)
        self.assertIn(f"something listens at {url} already", text)
        self.assertIn("{port}", text)

    def test_mistake(self) -> None:
        """``ready`` of another type, or with a port that nobody gets, is told at once."""
        for ready in (5, "http://127.0.0.1:{port}/"):
            with self.assertRaises(UsageError), started("-c", "0", ready=ready):
                pass


class RunTests(SynchronousTestCase):
    """While it runs, and at its end."""

    def test_flood(self) -> None:
        """However much it writes, it does not wait for a reader; the newest part is kept."""
        with started(str(FLOOD), "0", ready=URL) as shop:
            for _ in range(3):
                shop.mark()
                with urllib.request.urlopen(f"{shop.url}/1000000", timeout=30) as answer:
                    answer.read()
            with urllib.request.urlopen(f"{shop.url}/9", timeout=30) as answer:
                answer.read()
            self.assertLessEqual(len(shop.output()), KEPT_BYTES)
            self.patch(application, "redacted_texts", lambda texts, *_: texts)
            self.assertLess(len(shop.new_output()), 60 * 200)

    def test_children(self) -> None:
        """The processes that it started end with it, also those that ignore the first signal."""
        child = "import signal, time; signal.signal(15, 1); print('child'); time.sleep(600)"
        code = (
            "import subprocess, sys, time; "
            f"child = subprocess.Popen([sys.executable, '-c', {child!r}]); "
            "print('pid', child.pid); time.sleep(600)"
        )
        ready = re.compile(r"pid \d+\n(.|\n)*child|child\npid \d+\n")
        with started("-c", code, ready=ready) as shop:
            (pid,) = re.findall(r"pid (\d+)", shop.output())
            ends = os.pidfd_open(int(pid))
            self.addCleanup(os.close, ends)
        self.assertEqual(select.select([ends], [], [], 20)[0], [ends])

    def test_ended_before(self) -> None:
        """It may have ended by itself."""
        with started("-c", "print('done')", ready=re.compile(r"done\n")) as shop:
            # Its end may have been seen already.
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, shop.pid, os.WEXITED | os.WNOWAIT)
            self.assertEqual(shop.output(), "done\n")
        self.assertRaises(ProcessLookupError, os.kill, shop.pid, 0)
