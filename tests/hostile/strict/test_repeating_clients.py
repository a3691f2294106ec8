"""Libraries of Node that repeat requests, under strict mode; only with DEEP."""

import json
import os
import subprocess
import sys
from collections import Counter
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.node.libraries import DEEP as DEEP_CLIENTS
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.npm_packages import install
from tests.support.processes.proxy_process import start_proxy

SECONDS = 120
PROGRAM = DEEP_CLIENTS / "services/refused.mjs"
SAYING = {
    "stripe": "api.stripe.com",
    "openai": "api.openai.com",
    "anthropic": "api.anthropic.com",
    "googleapis": "www.googleapis.com",
    "slack": "slack.com",
    "octokit": "api.github.com",
    "algolia": "app-dsn.algolia.net",
    "twilio": "api.twilio.com",
    "s3": "s3.eu-west-1.amazonaws.com",
    "supabase.test": "supabase.test",
    "axios-retry.test": "axios-retry.test",
    "gaxios.test": "gaxios.test",
    "retry-agent.test": "retry-agent.test",
}
"""The hosts of the libraries whose errors say why the request was refused, by their calls."""
FORBIDDEN = ("ky.test", "ofetch.test")
"""Those whose errors say that trafficmock answered with 403."""

REPEATED = {
    "stripe": 3,
    "openai": 3,
    "anthropic": 3,
    "googleapis": 3,
    "octokit": 4,
    "supabase.test": 4,
    "axios-retry.test": 4,
    "gaxios.test": 3,
    "ky.test": 3,
    "ofetch.test": 2,
}
"""How often some of them ask after an error of the connection."""


class RepeatingClientTests(SynchronousTestCase):
    """Each library repeats requests by default, or because it is told to."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def asked(self, answer: str, *names: str) -> tuple[dict[str, str], Counter[str]]:
        """Give the text of each library's error, and how often each host was asked for."""
        install(DEEP_CLIENTS, "axios-retry")
        proxy = start_proxy("--strict")
        self.addCleanup(proxy.stop)
        run = [sys.executable, "-m", "trafficmock", "run", "--proxy-url", proxy.url, "--"]
        variables = {"XDG_DATA_HOME": self.mktemp(), "TRAFFICMOCK_STRICT_ANSWER": answer}
        printed = subprocess.check_output(
            [*run, "node", PROGRAM, *names], env={**os.environ, **variables}, timeout=SECONDS
        )
        requests = proxy.get("/api/history")["entries"]
        hosts = (urlsplit(each["request"]["url"]).hostname for each in requests)
        return json.loads(printed), Counter(str(host) for host in hosts)

    def test_auto(self) -> None:
        """Each library asks once, and its error says why the request was refused, or by whom."""
        texts, requests = self.asked("auto", *SAYING, *FORBIDDEN)
        for name, host in SAYING.items():
            self.assertIn(f"://{host}/", texts[name])
            self.assertIn("is not mocked", texts[name])
        for name in FORBIDDEN:
            self.assertIn("403 Refused by trafficmock", texts[name])
        self.assertEqual(requests, dict.fromkeys([*SAYING.values(), *FORBIDDEN], 1))

    def test_response(self) -> None:
        """With an answer for all requests, too."""
        _, requests = self.asked("response", *SAYING, *FORBIDDEN)
        self.assertEqual(requests, dict.fromkeys([*SAYING.values(), *FORBIDDEN], 1))

    def test_error(self) -> None:
        """With an error for all requests, these repeat; Slack would for half an hour."""
        _, requests = self.asked("error", *REPEATED)
        wanted = {SAYING.get(name, name): count for name, count in REPEATED.items()}
        self.assertEqual(dict(requests), wanted)
