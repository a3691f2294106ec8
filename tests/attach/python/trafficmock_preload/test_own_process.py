"""A process that runs already is attached, and restored."""

import http.client
import ssl
import sys
import threading
from importlib import import_module

from trafficmock_preload import import_hook
from trafficmock_preload.hooks import OwnProcess
from trafficmock_preload.preload_settings import SettingsError
from twisted.trial.unittest import SynchronousTestCase

NAMES = ("http.client", "urllib.request", "requests.adapters", "httpx._client", "threading", "ssl")
ENVIRONMENT = {"TRAFFICMOCK_PROXY_URL": "http://127.0.0.1:1", "TRAFFICMOCK_CLIENT_ID": "tests"}


def state() -> dict[tuple[str, str], object]:
    """Return the attributes of modules and of the classes in them."""
    found: dict[tuple[str, str], object] = {}
    for name in NAMES:
        for owner in import_hook._owners(import_module(name)):
            found |= {(str(owner), each): value for each, value in vars(owner).items()}
    return found


class OwnProcessTests(SynchronousTestCase):
    """What is left of an attachment."""

    def test_restored(self) -> None:
        """All is as it was, also in what was imported meanwhile."""
        state()  # Some of their attributes are made by the first look.
        before, finders = state(), list(sys.meta_path)
        process = OwnProcess(ENVIRONMENT)
        self.assertNotEqual(state(), before)
        sys.modules.pop("wsgiref.handlers", None)
        handlers = import_module("wsgiref.handlers")
        self.assertIn("change_wsgiref", handlers.BaseHandler.run.__qualname__)
        process.restore()
        self.assertEqual(state(), before)
        self.assertEqual(sys.meta_path, finders)
        self.assertEqual(handlers.BaseHandler.run.__qualname__, "BaseHandler.run")

    def test_changed_by_others(self) -> None:
        """What another one has replaced since stays, and opens no tunnel any more."""
        process = OwnProcess(ENVIRONMENT)
        ours = http.client.HTTPConnection.connect

        def replaced(connection: http.client.HTTPConnection) -> None:
            ours(connection)

        self.patch(http.client.HTTPConnection, "connect", replaced)
        process.restore()
        connection = http.client.HTTPConnection("127.0.0.1", 9)
        opened: list[object] = []

        def create(*args: object) -> None:
            opened.append(args[0])
            raise ZeroDivisionError

        connection._create_connection = create  # type: ignore[attr-defined]
        self.assertRaises(ZeroDivisionError, connection.connect)
        self.assertEqual(opened, [("127.0.0.1", 9)])

    def test_wrong_setting(self) -> None:
        """Nothing is changed."""
        before = http.client.HTTPConnection.connect, threading.Thread.start, ssl.SSLContext
        wrong = {**ENVIRONMENT, "TRAFFICMOCK_CONTEXT": "maybe"}
        self.assertRaises(SettingsError, OwnProcess, wrong)
        after = http.client.HTTPConnection.connect, threading.Thread.start, ssl.SSLContext
        self.assertEqual(after, before)
