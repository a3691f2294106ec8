"""What is changed, and where."""

import io
import sys
from importlib import import_module
from types import ModuleType

from trafficmock_preload import hooks
from trafficmock_preload.current_context import TestContexts
from trafficmock_preload.import_hook import NotAttachableError, apply
from trafficmock_preload.preload_settings import PreloadSettings
from trafficmock_preload.proxy_tunnel import Tunnels
from twisted.trial.unittest import SynchronousTestCase

URL = "TRAFFICMOCK_PROXY_URL"


class HookTests(SynchronousTestCase):
    """The table of modules."""

    def test_functions(self) -> None:
        """Each change is a function that is there."""
        wanted = {URL: "http://p:1", "TRAFFICMOCK_WEBSOCKET": "all"}
        found = hooks.changes(Tunnels(PreloadSettings(wanted, str)), TestContexts(30))
        self.assertLessEqual({"http.client", "websockets.sync.client", "websocket._http"}, {*found})
        for name, change in found.items():
            place, function, _ = change.args  # type: ignore[attr-defined]
            module = import_module(f"trafficmock_preload.{place}")
            self.assertTrue(callable(getattr(module, function, None)), name)

    def test_websockets(self) -> None:
        """Libraries for WebSockets are left alone unless they are asked for."""
        tunnels = Tunnels(PreloadSettings({URL: "http://p:1"}, str))
        found = hooks.changes(tunnels, TestContexts(30))
        self.assertEqual([name for name in found if name.startswith("websocket")], [])

    def test_not_attachable(self) -> None:
        """A client of unknown form is named in a sentence, and refused unless that is allowed."""
        future = ModuleType("urllib3.connection")
        vars(future).update(HTTPConnection=object, HfaceBackend=object)
        other = ModuleType("urllib3.connection")
        for module, reason in ((future, "AttributeError"), (other, "KeyError")):
            for allowed in ("0", "1"):
                errors = io.StringIO()
                self.patch(sys, "stderr", errors)
                wanted = {URL: "http://p:1", "TRAFFICMOCK_ALLOW_UNATTACHED": allowed}
                tunnels = Tunnels(PreloadSettings(wanted, str))
                change = hooks.changes(tunnels, TestContexts(30))["urllib3.connection"]
                if allowed == "0":
                    error = self.assertRaises(NotAttachableError, apply, change, module)
                    said = f"{error}{errors.getvalue()}"
                    self.assertIn("the import is refused", said)
                else:
                    apply(change, module)
                    said = errors.getvalue()
                self.assertIn(f"urllib3.connection cannot be attached ({reason}", said)
                self.assertEqual(tunnels.changed, set())

    def test_https_proxy(self) -> None:
        """A proxy behind TLS cannot be used, which is said; each request fails with it."""
        errors = io.StringIO()
        self.patch(sys, "stderr", errors)
        tunnels, _ = hooks._made({URL: "https://user:secret@p:1"})
        self.assertIn("must be an http:// URL for Python applications", errors.getvalue())
        self.assertNotIn("secret", errors.getvalue())
        error = self.assertRaises(ConnectionRefusedError, tunnels.proxy)
        self.assertIn("not https://p:1", str(error))

    def test_wrong_pattern(self) -> None:
        """So is a pattern of hosts that is none."""
        errors = io.StringIO()
        self.patch(sys, "stderr", errors)
        variables = {URL: "http://p:1", "TRAFFICMOCK_IGNORE_HOSTS": "https://a.test"}
        tunnels, _ = hooks._made(variables)
        self.assertIn("trafficmock: TRAFFICMOCK_IGNORE_HOSTS must be hosts", errors.getvalue())
        error = self.assertRaises(ConnectionRefusedError, tunnels.proxy)
        self.assertIn("not 'https://a.test'", str(error))
