"""The environment that tests start an application with."""

import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.attach.listening import answering
from trafficmock.attach import node
from trafficmock.attach.rest_probe import AttachError
from trafficmock.testing.launch.proxy_process import Proxy

PEM = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"


PRELOAD = Path("/somewhere/register.js")


class EnvironmentTests(SynchronousTestCase):
    """What ``trafficmock_env`` gives."""

    def setUp(self) -> None:
        self.data = Path(self.mktemp()).absolute()
        self.patch(node, "find_preload", lambda _start: PRELOAD)
        self.present = {"XDG_DATA_HOME": str(self.data), "NO_PROXY": "db.test", "PATH": "/bin"}
        self.patch(os, "environ", self.present)

    def test_any_language(self) -> None:
        """The agent, HTTP clients and runtimes find the proxy, the name, the token and trust."""
        with answering({"/ca.pem": (200, PEM)}) as url:
            found = Proxy(url, "secret").environment("shop")
        at = url.removeprefix("http://")
        self.assertEqual(found["PATH"], "/bin")
        self.assertEqual(found["NODE_OPTIONS"], f'--require "{PRELOAD}"')
        self.assertEqual(found["TRAFFICMOCK_PROXY_URL"], url)
        self.assertEqual(found["TRAFFICMOCK_CLIENT_ID"], "shop")
        self.assertEqual(found["https_proxy"], f"http://shop:secret@{at}")
        self.assertEqual(found["NO_PROXY"], at)
        self.assertTrue(Path(found["SSL_CERT_FILE"]).is_relative_to(self.data))
        self.assertIn(PEM.strip(), Path(found["SSL_CERT_FILE"]).read_bytes())

    def test_only_agents(self) -> None:
        """A proxy that takes agents only, such as the npm one, is not named as a forward proxy."""
        with answering({}) as url:
            found = Proxy(url).environment()
        self.assertEqual(found["TRAFFICMOCK_PROXY_URL"], url)
        self.assertNotIn("HTTP_PROXY", found)

    def test_base(self) -> None:
        """Another environment to start from takes the place of this process's."""
        with answering({"/ca.pem": (200, PEM)}) as url:
            found = Proxy(url).environment(base={"XDG_DATA_HOME": str(self.data), "MINE": "1"})
        self.assertEqual((found["MINE"], found.get("PATH")), ("1", None))
        self.assertEqual(found["NO_PROXY"], url.removeprefix("http://"))

    def test_agent_missing(self) -> None:
        """Without the agent nothing is started that would reach the real network, unless told."""

        def find_preload(_start: Path) -> Path:
            raise AttachError("no agent")

        self.patch(node, "find_preload", find_preload)
        with answering({"/ca.pem": (200, PEM)}) as url:
            self.assertRaises(AttachError, Proxy(url).environment, "shop")
            found = Proxy(url).environment("shop", agent=False)
        self.assertEqual(found["NODE_USE_ENV_PROXY"], "1")
        self.assertNotIn("NODE_OPTIONS", found)

    def test_not_wanted(self) -> None:
        """Who wants agents only says so, and the proxy is not even asked."""
        found = Proxy("http://127.0.0.1:2").environment("shop", forward_proxy=False)
        self.assertEqual(found["TRAFFICMOCK_CLIENT_ID"], "shop")
        self.assertNotIn("HTTP_PROXY", found)
