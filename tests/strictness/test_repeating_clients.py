"""Libraries of Node that repeat requests, under strict mode; only with DEEP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from tests.clients.node.libraries import DEEP as DEEP_CLIENTS
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.npm_packages import install
from tests.support.processes.proxy_process import start_proxy

SECONDS = 120
PROGRAM = DEEP_CLIENTS / "services/refused.mjs"
SDKS = {
    "stripe": "api.stripe.com",
    "openai": "api.openai.com",
    "anthropic": "api.anthropic.com",
    "googleapis": "www.googleapis.com",
}
"""The hosts of libraries whose requests say which library they are of."""
REPEATED = {"axios-retry.test": 4, "ky.test": 3, "ofetch.test": 2}
"""How often those ask whose requests do not say which library they are of."""


class RepeatingClientTests(SynchronousTestCase):
    """Each library repeats requests by default, but for axios-retry, which is told to."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def asked(self, answer: str) -> tuple[dict[str, str], Counter[str]]:
        """Give the text of each library's error, and how often each host was asked for."""
        install(DEEP_CLIENTS, "axios-retry")
        proxy = start_proxy("--strict")
        self.addCleanup(proxy.stop)
        run = [sys.executable, "-m", "trafficmock", "run", "--proxy-url", proxy.url, "--"]
        variables = {"XDG_DATA_HOME": self.mktemp(), "TRAFFICMOCK_STRICT_ANSWER": answer}
        printed = subprocess.check_output(
            [*run, "node", PROGRAM], env={**os.environ, **variables}, timeout=SECONDS
        )
        requests = proxy.get("/api/history")["entries"]
        hosts = (urlsplit(each["request"]["url"]).hostname for each in requests)
        return json.loads(printed), Counter(str(host) for host in hosts)

    def test_auto(self) -> None:
        """SDKs ask once, and their errors say why the request was refused."""
        texts, requests = self.asked("auto")
        for name, host in SDKS.items():
            self.assertIn(f"https://{host}/", texts[name])
            self.assertIn("is not mocked", texts[name])
        self.assertEqual(requests, {**dict.fromkeys(SDKS.values(), 1), **REPEATED})

    def test_response(self) -> None:
        """With 403 each library asks once."""
        _, requests = self.asked("response")
        self.assertEqual(requests, dict.fromkeys([*SDKS.values(), *REPEATED], 1))
