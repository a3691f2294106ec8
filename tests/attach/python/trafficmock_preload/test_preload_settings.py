"""The variables of an attached process."""

import base64

from hypothesis import given
from hypothesis import strategies as st
from trafficmock_preload.preload_settings import PreloadSettings, SettingsError, split_authority
from twisted.trial.unittest import SynchronousTestCase


def settings(url: str = "http://p:1", **variables: str) -> PreloadSettings:
    """Read variables, in an application whose own name is ``app``."""
    return PreloadSettings({"TRAFFICMOCK_PROXY_URL": url, **variables}, lambda: "app")


class SettingsTests(SynchronousTestCase):
    """What is read, and what is refused."""

    def credentials(self, url: str = "http://p:1", **variables: str) -> str:
        found = settings(url, **variables).credentials
        return base64.b64decode(found.removeprefix(b"Basic ")).decode()

    def test_place(self) -> None:
        """Host and port are those of the URL, the port that of its scheme where it has none."""
        for url, place in (
            ("http://127.0.0.1:4310", ("127.0.0.1", 4310)),
            ("http://user:pw@Host:1/path?q", ("host", 1)),
            ("http://[::1]:4310/", ("::1", 4310)),
            ("http://proxy", ("proxy", 80)),
        ):
            found = settings(url)
            self.assertEqual((found.host, found.port), place, url)

    def test_credentials(self) -> None:
        """The client id and the token are the credentials; those of the URL count second."""
        self.assertEqual(self.credentials(), "app:-")
        named = {"TRAFFICMOCK_CLIENT_ID": "shop", "TRAFFICMOCK_TOKEN": "t:1"}
        self.assertEqual(self.credentials(**named), "shop:t:1")
        self.assertEqual(self.credentials("http://sh%6fp:s%20t@p:1"), "shop:s t")
        npm = {"PLAYWRIGHT_BACKEND_MOCKS_TOKEN": "npm"}
        self.assertEqual(self.credentials(**npm), "app:npm")

    def test_contexts(self) -> None:
        """Contexts are read and count for 30 s, unless a variable says otherwise."""
        found = settings()
        self.assertEqual((found.reads_contexts, found.context_seconds), (True, 30))
        found = settings(TRAFFICMOCK_CONTEXT="0", TRAFFICMOCK_CONTEXT_MS="250")
        self.assertEqual((found.reads_contexts, found.context_seconds), (False, 0.25))

    def test_websockets(self) -> None:
        """Libraries for WebSockets are changed when a variable asks for it."""
        for value, wanted in (("", False), ("global", False), ("all", True)):
            self.assertIs(settings(TRAFFICMOCK_WEBSOCKET=value).all_websockets, wanted)

    def test_refused(self) -> None:
        """A mistake is named with the variable."""
        for name, value in (
            ("TRAFFICMOCK_PROXY_URL", "ftp://p:1"),
            ("TRAFFICMOCK_PROXY_URL", "http://p:99999"),
            ("TRAFFICMOCK_PROXY_URL", "http://"),
            ("TRAFFICMOCK_PROXY_URL", "HTTPS://p:1"),
            ("TRAFFICMOCK_CLIENT_ID", "shop:1"),
            ("TRAFFICMOCK_CONTEXT", "yes"),
            ("TRAFFICMOCK_CONTEXT_MS", "-1"),
            ("TRAFFICMOCK_WEBSOCKET", "most"),
        ):
            variables = {"TRAFFICMOCK_PROXY_URL": "http://p:1", name: value}
            error = self.assertRaises(SettingsError, PreloadSettings, variables, str)
            self.assertIn(name, str(error))

    def test_secret(self) -> None:
        """An error does not show what stands in the URL as a password."""
        error = self.assertRaises(SettingsError, settings, "http://user:secret@p:x")
        self.assertNotIn("secret", str(error))

    @given(st.text(alphabet="a1.:[]@/%-\u0660", max_size=20))
    def test_any(self, text: str) -> None:
        """Any text is read or refused."""
        try:
            found = settings(f"http://{text}")
        except SettingsError:
            return
        self.assertTrue(found.host)
        self.assertTrue(0 <= found.port < 65536)

    @given(st.text(alphabet="a1:[]", max_size=12))
    def test_authority(self, text: str) -> None:
        """A port is a number that a port may be, none, or marked as wrong."""
        _, port = split_authority(text)
        self.assertTrue(port is None or -1 <= port < 65536)
