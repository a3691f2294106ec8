"""What the commands say of requests that the history has dropped."""

import json

from tests.command.recorded_proxy import CommandTestCase
from tests.command.traffic import Traffic, request, response
from tests.support.processes.proxy_process import NO_PINGS, running_proxy

LIMIT = 5


class DroppedTests(CommandTestCase):
    """A proxy that keeps five requests."""

    def setUp(self) -> None:
        running = running_proxy(*NO_PINGS, "--history-limit", str(LIMIT))
        self.proxy = running.__enter__()
        self.addCleanup(running.__exit__, None, None, None)
        self.environment = {"TRAFFICMOCK_PROXY_URL": self.proxy.url}
        self.traffic = Traffic.at(self.proxy.url)

    def mocked(self, number: int) -> None:
        charge = request("https://pay.example/charges", "POST", "a body")
        for each in range(number):
            answer = response(200, "paid")
            self.traffic.owned(f"m{each}", charge, action="fulfill", response=answer)

    def status_of(self, *words: str) -> int:
        return self.run_command(*words).status

    def test_fail(self) -> None:
        """``--fail`` ends with 1 for a request that was dropped, too, and with 0 for none."""
        passed = ("history", "--action", "passthrough", "--fail")
        self.mocked(1)
        done = self.run_command(*passed)
        self.assertEqual(done.status, 0, done.err)
        self.traffic.passed("p", "https://api.example/charge", response(200))
        self.assertEqual(self.status_of(*passed), 1)
        self.mocked(LIMIT)
        self.assertEqual(self.run_command(*passed[:3]).out, "")
        done = self.run_command(*passed)
        self.assertEqual(done.status, 1)
        said = "1 since the start of the proxy, which are not in the history any more"
        self.assertIn(said, done.err)
        self.assertEqual(self.status_of("history", "--action", "abort", "--fail"), 0)
        self.assertEqual(self.status_of("ws", "--action", "passthrough", "--fail"), 0)
        done = self.run_command("history", "--method", "PUT", "--fail")
        self.assertEqual(done.status, 1)
        self.assertIn("2 more are not in the history, and may have fitted", done.err)

    def test_shown(self) -> None:
        """A list and the status say that older requests are gone."""
        self.traffic.passed("p", "https://api.example/charge", response(200))
        self.assertNotIn("since the start", self.run_command("status").out)
        self.mocked(LIMIT)
        self.assertIn("1 older ones are gone: ", self.run_command("history").err)
        out = self.run_command("status").out
        self.assertIn("requests    5 fulfill\n            since the start 5 fulfill, 1 pass", out)
        self.assertIn("hosts       pay.example: 5 fulfill\n            api.example: 1 pass", out)
        self.assertRegex(out, r"tests       .+: 5 fulfill\n            \(no test\): 1 passthrough")
        status = json.loads(self.run_command("status", "--json").out)
        self.assertEqual(status["summary"]["requests"]["decisions"]["passthrough"], 1)

    def test_whole(self) -> None:
        """``--full`` has bodies and headers, and ``har --failed`` the requests that failed."""
        self.mocked(1)
        charge = request("https://pay.example/charges", "POST", "a body")
        self.traffic.owned("lost", charge, action="abort", errorCode="timedout")
        whole = self.run_command("history", "--all", "--full", "--json").out
        lost, paid = json.loads(whole)["entries"]
        self.assertEqual((lost["id"], paid["id"]), ("lost", "m0"))
        content = response(200, "paid")["bodyBase64"]
        self.assertEqual(paid["outcome"]["response"]["bodyBase64"], content)
        self.assertIn("headers", lost["request"])
        said = self.run_command("har").err
        self.assertIn("left out: no response was recorded (see --failed)", said)
        har = json.loads(self.run_command("har", "--failed").out)["log"]["entries"]
        failed = [(each["response"]["status"], each["response"].get("_error")) for each in har]
        self.assertEqual(failed, [(200, None), (0, "timedout")])

    def test_wrong(self) -> None:
        """Options that say two things are refused."""
        for words in (["--all", "-n", "3"], ["--full"], ["--follow", "--fail"]):
            self.assertEqual(self.status_of("history", *words), 2)
