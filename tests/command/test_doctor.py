"""``trafficmock doctor``."""

import json

from tests.command.recorded_proxy import CommandTestCase
from tests.command.traffic import HOSTILE, request
from tests.support.processes.tested_proxy import start_proxy
from tests.support.raw_client import RawClient


class DoctorTests(CommandTestCase):
    """Requests that lost the context of their test, by application and URL."""

    def setUp(self) -> None:
        super().setUp()
        self.proxy = start_proxy([])
        self.addCleanup(self.proxy.stop)
        self.environment["TRAFFICMOCK_PROXY_URL"] = self.proxy.url

    def test_nothing(self) -> None:
        """Without tests that have contexts nothing is lost."""
        done = self.run_command("doctor")
        self.assertEqual(done.status, 0)
        self.assertIn("No request lost the context of a test", done.out)

    def test_lost(self) -> None:
        """The same request is told once, with the story of its latest, and without its query."""
        worker, agent = RawClient.connect(self.proxy.url), RawClient.connect(self.proxy.url)
        self.addCleanup(worker.close)
        self.addCleanup(agent.close)
        worker.hello("playwright", clientId="w", workerId="9", features=["context"])
        names = {"testId": "t9", "title": "t9", "file": "t9.py", "workerId": "9"}
        worker.send(type="test:register", **names, context="d" * 32)
        worker.receive()
        agent.hello("node", clientId="till", pid=12, features=["context"])
        for number in (1, 2):
            sent = {"requestId": f"lost{number}", "clientId": "till"}
            origin = {"kind": "thread", "name": f"worker {HOSTILE}", "library": "urllib3"}
            asked = request(f"http://lost.example/e?token={number}", "POST")
            agent.send(type="request:start", **sent, request=asked, origin=origin)
            agent.receive()
        done = self.run_command("doctor")
        self.assertEqual(done.status, 1)
        self.check_clean(done)
        self.assertIn("POST http://lost.example/e  till, 2 times, last at ", done.out)
        self.assertIn("No request with a context has come into process till 12.", done.out)
        self.assertNotIn("token", done.out)
        found = json.loads(self.run_command("doctor", "--json").out)
        (group,) = found["lost"]
        self.assertEqual((group["count"], group["lastId"]), (2, "lost2"))
        self.assertEqual(found["mixed"], [])

    def test_unhooked(self) -> None:
        """A library that an agent cannot change is named with its file."""
        agent = RawClient.connect(self.proxy.url)
        self.addCleanup(agent.close)
        agent.hello("node", clientId="till", features=["context"])
        agent.send(type="agent:unhooked", library="fastq", file=f"/app/{HOSTILE}.js")
        agent.send(type="ping", at=1)
        agent.receive()
        done = self.run_command("doctor")
        self.assertEqual(done.status, 1)
        self.check_clean(done)
        self.assertIn("till has a copy of fastq in /app/", done.out)
        (row,) = json.loads(self.run_command("doctor", "--json").out)["unhooked"]
        self.assertEqual((row["clientId"], row["library"]), ("till", "fastq"))

    def test_mixed(self) -> None:
        """A request with the context of a test that has no route, where one other test has."""
        worker, agent = RawClient.connect(self.proxy.url), RawClient.connect(self.proxy.url)
        self.addCleanup(worker.close)
        self.addCleanup(agent.close)
        worker.hello("playwright", clientId="w", workerId="9", features=["context", "warnings"])
        for number, name in enumerate(("T0", "T3")):
            names = {"testId": name, "title": name, "file": "t.py", "workerId": "9"}
            worker.send(
                type="test:register", **names, context=f"{number}" * 32 if number else "d" * 32
            )
            worker.receive()
        matcher = {"urlGlob": "http://jobs.example/*"}
        worker.send(type="route:register", testId="T3", routeId="q", kind="http", matcher=matcher)
        worker.receive()
        agent.hello("node", clientId="till", pid=12, features=["context"])
        for number in (1, 2):
            asked = {"request": request(f"http://jobs.example/{number % 1}"), "context": "d" * 32}
            origin = {"kind": "timer", "library": "fetch", "place": "jobs.js:3"}
            sent = {"requestId": f"mixed{number}", "clientId": "till", "origin": origin}
            agent.send(type="request:start", **sent, **asked)
            agent.receive()
        told = [each for _ in range(3) if (each := worker.receive())["type"] == "test:warning"]
        self.assertEqual([each["testId"] for each in told], ["T0", "T3"])
        done = self.run_command("doctor")
        self.assertEqual(done.status, 1)
        text = " ".join(done.out.split())
        self.assertIn("2 may carry the wrong context", text)
        self.assertIn("GET http://jobs.example/0 till, 2 times, last at ", text)
        self.assertIn('context of the test "T0" (t.py, worker 9), which has no route for it', text)
        self.assertIn("This one left from a timer, by fetch at jobs.js:3.", text)
        shown = self.run_command("show", "mixed2").out
        self.assertIn("only the test", shown)
