"""What frameworks send for themselves: never a test's, and no cause for a red run."""

from msgspec import UNSET

from tests.core.strict.case import B, messages
from tests.core.strict.test_runs import NOTHING, RunCase
from trafficmock.core.effects import Effects
from trafficmock.core.state.peers import Agent
from trafficmock.matching.allow_list import read_allow_list
from trafficmock.matching.patterns.framework_calls import FRAMEWORK_CALLS, framework_call
from trafficmock.records import RequestFailed, RequestSeen
from trafficmock.wire import inbound, outbound

TAGS = "https://registry.npmjs.org/-/package/next/dist-tags"
TELEMETRY = "https://telemetry.nextjs.org/api/v1/record"


class FrameworkTests(RunCase):
    """A request that ``next dev`` sends while it answers a test's page."""

    def assert_of_nobody(self, effects: Effects) -> None:
        (seen,) = [each for each in effects if isinstance(each, RequestSeen)]
        self.assertIsNone(seen.carried)
        self.assertEqual(messages(effects, self.worker) + messages(effects, self.other), [])

    def test_refused(self) -> None:
        """It is refused, fails no test although it carries its context, and is listed apart."""
        self.run_strict()
        self.registers()
        self.registers("sells", context=B, worker=self.other)
        effects = self.asks(TAGS, method="GET")
        self.assert_of_nobody(effects)
        self.assertEqual(
            self.refused(effects),
            f"GET {TAGS} is what Next.js sends for itself, its version check, and strict mode "
            "allows nothing: it was refused. It belongs to no test, and fails none. To let it "
            "leave, allow preset:next.",
        )
        self.assertEqual((self.told(effects), self.told(effects, self.other)), ([], []))
        answer = self.listed()
        self.assertEqual(answer.requests, [])
        assert answer.frameworks is not UNSET
        (row,) = answer.frameworks
        self.assertEqual((row.url, row.framework, row.sender), (TAGS, "next", "client shop"))

    def test_off(self) -> None:
        """The text says how the framework is told not to send it."""
        self.begin(strict=NOTHING)
        text = self.refused(self.asks(TELEMETRY, context=None))
        self.assertIn("or have Next.js not send it (NEXT_TELEMETRY_DISABLED=1).", text)

    def test_alone(self) -> None:
        """Without a context it is not the only test's either, strict or not."""
        self.registers()
        self.assert_passed(self.asks(TAGS, context=None))
        self.assert_passed(self.asks(TAGS, request_id="r2"))

    def test_preset(self) -> None:
        """A preset of the run or the service lets it leave, that of another framework does not."""
        for allowed in ("preset:next", "preset:all"):
            self.begin()
            self.run_strict(allowed)
            self.registers(allow=[])
            effects = self.asks(TAGS)
            self.assert_passed(effects)
            self.assert_of_nobody(effects)
        self.begin(strict=read_allow_list(["preset:astro"]))
        self.assertIn("allows only preset:astro", self.refused(self.asks(TAGS, context=None)))

    def test_catch_all(self) -> None:
        """Neither one test's route for all URLs takes it, nor do those of two make it ambiguous."""
        self.begin(strict=NOTHING)
        self.registers()
        self.routes("https://**/*")
        self.refused(self.asks(TAGS))
        self.registers("sells", context=B, worker=self.other)
        self.routes("**", "q2", test_id="sells", worker=self.other)
        self.refused(self.asks(TAGS, context=None, request_id="r2"))

    def test_named(self) -> None:
        """A test that names the host means such requests: an application may be about them."""
        self.registers(allow=None)
        self.routes("https://registry.npmjs.org/**")
        effects = self.asks(TAGS)
        (seen,) = [each for each in effects if isinstance(each, RequestSeen)]
        assert seen.carried is not None
        self.assertEqual(seen.carried.test_id, "buys")
        (run,) = messages(effects, self.worker)
        assert isinstance(run, outbound.HandlerRun)
        self.assertEqual(run.test_id, "buys")

    def test_shared_route(self) -> None:
        """A shared route takes it, as what no test owns."""
        self.begin(strict=NOTHING)
        self.registers("all", context=None, allow=None, shared=True)
        self.routes("https://**/*", test_id="all")
        effects = self.asks(TAGS)
        self.assertEqual([each for each in effects if isinstance(each, RequestFailed)], [])

    def test_table(self) -> None:
        """Each call of the table is found by its URL, with and without a port."""
        paths = {".*": "x", r"astro/latest": "astro/latest", r"npm(?:/latest)?": "npm"}
        for call in FRAMEWORK_CALLS:
            path = paths.get(call.path)
            if path is not None:
                for port in ("", ":443"):
                    self.assertIs(framework_call(f"https://{call.host}{port}/{path}"), call)
            self.assertIsNone(framework_call(f"https://{call.host}.example/x"))
            self.assertIsNone(framework_call(f"https://{call.host}:1@evil.example/x"))
        for url in (
            "https://registry.npmjs.org/nextra",
            "https://registry.npmjs.org/next/-/next-16.0.0.tgz",
            "https://www.google-analytics.com/g/collect?tid=G-MINE",
            "https://storybook.js.org/docs",
            "http://localhost:8969/stream",
        ):
            self.assertIsNone(framework_call(url), url)


class ThisRunTests(RunCase):
    """The list has only what was refused since the run began."""

    def test_before(self) -> None:
        """What came before the run's process had started is not of it; what came after is."""
        self.begin(strict=NOTHING)
        self.alone("http://before.test/")
        self.alone("http://both.test/", request_id="r2")
        self.playbook.wait(60)
        self.playbook.take()
        self.alone("http://both.test/", request_id="r3")
        self.alone("http://start.test/", request_id="r4")
        answer = self.listed(age_ms=30_000)
        self.assertEqual(
            [(row.url, row.count) for row in answer.requests],
            [("http://both.test/", 1), ("http://start.test/", 1)],
        )

    def test_other_run(self) -> None:
        """A later run beside this one does not take its list away, and does not get it."""
        self.begin(strict=NOTHING)
        self.alone("http://first.test/")
        self.assertEqual(self.urls(), ["http://first.test/"])
        self.playbook.wait(60)
        self.playbook.take()
        self.assertEqual(self.listed(self.other, age_ms=1000).requests, [])
        self.assertEqual(self.urls(), ["http://first.test/"])

    def test_told(self) -> None:
        """Of what a worker tells the others do not tell, though it stays in the list."""
        self.begin(strict=NOTHING)
        self.urls(self.other)
        self.alone("http://first.test/")
        self.assertEqual(len(self.listed(tell=True).requests), 1)
        self.alone("http://second.test/", request_id="r2")
        (row,) = self.listed(self.other, tell=True).requests
        self.assertEqual(row.url, "http://second.test/")
        self.assertEqual(len(self.urls()), 2)

    def test_times(self) -> None:
        """A row says when its first request was refused, and when its last."""
        self.run_strict()
        self.alone()
        first = self.playbook.now().epoch_ms
        self.playbook.wait(2)
        self.playbook.take()
        self.alone(request_id="r2")
        (row,) = self.listed().requests
        self.assertEqual((row.at, row.last_at, row.count), (first, first + 2000, 2))

    def test_process(self) -> None:
        """Who sent it is said with its process, where that is known."""
        agent = self.playbook.agent("api", features=("context", "strict"))
        client = self.playbook.coordinator.state.peers[agent.id]
        assert isinstance(client, Agent)
        client.pid, client.command = 4711, "/usr/bin/node /srv/api/worker.mjs --token=hush"
        self.run_strict()
        self.alone(agent=agent)
        (row,) = self.listed().requests
        self.assertRegex(
            row.sender,
            r"client api, process 4711 \(node worker\.mjs --token=\[redacted.*\]\)",
        )
        self.registers()
        (error,) = self.told(self.asks(agent=agent, request_id="r2"))
        self.assertTrue(error.message.endswith(f"It was sent by {row.sender}."), error.message)


class RunRouteTests(RunCase):
    """Shared routes that are there before the first test count from the beginning of the run."""

    def registers_shared(self) -> None:
        self.registers("all", context=None, allow=None, shared=True)

    def test_before_the_first_test(self) -> None:
        """What they mock is forgotten, and nothing else."""
        self.run_strict()
        self.alone("http://flags.test/all")
        self.alone("http://other.test/", request_id="r2")
        self.registers_shared()
        self.routes("http://flags.test/**", test_id="all")
        self.assertEqual(self.urls(), ["http://other.test/"])

    def test_after_the_first_test(self) -> None:
        """A route that comes only while a test runs does not excuse what came before it."""
        self.run_strict()
        self.registers(allow=None)
        self.alone("http://flags.test/all")
        self.registers_shared()
        self.routes("http://flags.test/**", test_id="all")
        self.assertEqual(self.urls(), ["http://flags.test/all"])

    def test_own_route(self) -> None:
        """A route of the first test itself does not."""
        self.run_strict()
        self.alone("http://flags.test/all")
        self.registers(allow=None)
        self.routes("http://flags.test/**")
        self.assertEqual(self.urls(), ["http://flags.test/all"])

    def test_after_the_last_test(self) -> None:
        """What comes between the end of the routes and that of the run does not count either."""
        self.run_strict()
        self.registers_shared()
        self.routes("http://flags.test/**", test_id="all")
        self.registers(allow=None)
        self.worker.sends(inbound.TestUnregister("all"))
        self.playbook.take()
        # While a test runs, the route is missed.
        self.alone("http://flags.test/missed")
        self.worker.sends(inbound.TestUnregister("buys"))
        self.playbook.take()
        self.alone("http://flags.test/all", request_id="r2")
        self.alone("http://other.test/", request_id="r3")
        self.assertEqual(self.urls(), ["http://flags.test/missed", "http://other.test/"])

    def test_next_test(self) -> None:
        """With the next test, ended routes excuse nothing."""
        self.run_strict()
        self.registers_shared()
        self.routes("http://flags.test/**", test_id="all")
        self.worker.sends(inbound.TestUnregister("all"))
        self.playbook.take()
        self.registers(allow=None)
        self.worker.sends(inbound.TestUnregister("buys"))
        self.playbook.take()
        self.alone("http://flags.test/all")
        self.assertEqual(self.urls(), ["http://flags.test/all"])

    def test_inert(self) -> None:
        """A route that waits for its test forgives nothing."""
        self.run_strict()
        self.alone("http://flags.test/all")
        self.routes("http://flags.test/**", test_id="unknown")
        self.assertEqual(self.urls(), ["http://flags.test/all"])
        self.assertIs(self.listed().frameworks, UNSET)
