"""A strict test fails if it called an application, and no attached one reported its context."""

from typing import Any

from attrs import evolve
from msgspec import UNSET

from tests.core.strict.case import OF_AGENTS, OF_WORKERS, A, B, StrictCase, messages
from tests.support.playbook import SETTINGS, Playbook
from trafficmock.core.isolation.unseen_contexts import REPORT_SECONDS
from trafficmock.matching.allow_list import read_allow_list
from trafficmock.wire import inbound, outbound
from trafficmock.wire.local_reports import ContextSeen
from trafficmock.wire.payloads.application_origins import ApplicationOrigins, CalledServers

SHOP = "http://127.0.0.1:3000"
TELLING = ("context", "seen-contexts", "strict")


class UnseenContextTests(StrictCase):
    """An agent that tells of contexts, and two workers."""

    def begin(self, *, features: tuple[str, ...] = TELLING, **settings: Any) -> None:
        self.playbook = Playbook(self, evolve(SETTINGS, **settings))
        self.agent = self.playbook.agent("shop", features=features)
        self.worker = self.playbook.worker("0", features=OF_WORKERS)
        self.other = self.playbook.worker("1", features=OF_WORKERS)

    def calls(self, test_id: str = "buys") -> None:
        """Let the browser proxy of a test pass two requests."""
        for origin in (SHOP, "http://localhost:4000"):
            self.playbook.coordinator.browser_proxy_called(test_id, origin)

    def ended(self) -> list[str]:
        """Give the codes of the errors of the test that has ended; its answer comes last."""
        *errors, last = messages(self.playbook.take(), self.worker)
        self.assertEqual(last, outbound.TestUnregistered("buys"))
        return [each.code for each in errors if isinstance(each, outbound.ProxyError)]

    def test_unseen(self) -> None:
        """The error names the origin, and what to do."""
        self.registers()
        self.calls()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.assertEqual(messages(self.playbook.take(), self.worker), [])
        self.playbook.wait(REPORT_SECONDS)
        error, last = messages(self.playbook.take(), self.worker)
        self.assertEqual(last, outbound.TestUnregistered("buys"))
        assert isinstance(error, outbound.ProxyError)
        self.assertEqual((error.code, error.test_id), ("no_application", "buys"))
        self.assertIn(f"sent requests to {SHOP}, but no attached application", error.message)
        self.assertIn("trafficmock run", error.message)

    def test_heard(self) -> None:
        """One that was told of, without any request of the application, ends at once."""
        self.registers()
        self.calls()
        self.agent.sends(ContextSeen(A))
        self.worker.sends(inbound.TestUnregister("buys"))
        self.assertEqual(self.ended(), [])

    def test_heard_late(self) -> None:
        """What is told while the test waits ends it; another context does not."""
        self.registers()
        self.registers("sells", context=B)
        self.calls()
        for _ in range(2):
            self.worker.sends(inbound.TestUnregister("buys"))
        self.agent.sends(ContextSeen(B))
        self.agent.sends(ContextSeen("c" * 32))
        self.assertEqual(messages(self.playbook.take(), self.worker), [])
        self.agent.sends(ContextSeen(A))
        self.assertEqual(self.ended(), [])

    def test_request(self) -> None:
        """A request with the context is enough."""
        self.registers(allow=["api.test"])
        self.calls()
        self.asks()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.assertEqual(self.ended(), [])

    def test_no_call(self) -> None:
        """A test whose browser called nothing needs no application."""
        self.registers()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.assertEqual(self.ended(), [])

    def test_not_strict(self) -> None:
        """Nor does a test that is not strict."""
        self.registers(allow=None)
        self.calls()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.assertEqual(self.ended(), [])

    def test_client(self) -> None:
        """A client of the test that sent the context by itself counts as the browser does."""
        self.assertEqual(self.ends_after([SHOP]), ["no_application"])

    def test_foreign_server(self) -> None:
        """A server elsewhere is not the application."""
        self.assertEqual(self.ends_after(["https://login.test", "no URL"]), [])

    def test_named_application(self) -> None:
        """If the test names its application, other servers count only with the base URL alone."""
        named = ["http://127.0.0.1:3001", "https://*.shop.test"]
        self.assertEqual(self.ends_after([SHOP], ApplicationOrigins(named)), [])
        called = ["https://eu.shop.test"]
        self.assertEqual(self.ends_after(called, ApplicationOrigins(named)), ["no_application"])
        everywhere = ApplicationOrigins(named, hosts_under_test=True)
        self.assertEqual(self.ends_after([SHOP], everywhere), ["no_application"])
        self.assertEqual(self.ends_after([SHOP], ApplicationOrigins(["no origin"])), [])

    def test_attached_test(self) -> None:
        """In an attached process only servers that the test names are what it calls itself."""
        self.assertEqual(self.ends_after([SHOP], attached=True), [])
        named = ApplicationOrigins(["https://*.shop.test"], hosts_under_test=True)
        self.assertEqual(self.ends_after([SHOP], named, attached=True), [])
        called = [SHOP, "https://eu.shop.test"]
        self.assertEqual(self.ends_after(called, named, attached=True), ["no_application"])

    def ends_after(
        self,
        origins: list[str],
        application: ApplicationOrigins = ApplicationOrigins(),  # noqa: B008 - frozen
        *,
        attached: bool = False,
    ) -> list[str]:
        """Give the errors of a test whose clients have called servers that report nothing."""
        self.registers()
        called = CalledServers(origins, application, attached)
        self.worker.sends(inbound.TestUnregister("buys", called=called))
        if self.playbook.coordinator.ended_tests.unseen_contexts.waiting:
            self.playbook.wait(REPORT_SECONDS)
        return self.ended()

    def test_service(self) -> None:
        """In a strict service, as in a strict run, the test itself fails."""
        self.begin(strict=read_allow_list([]))
        self.registers(allow=None)
        self.calls()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.playbook.wait(REPORT_SECONDS)
        self.assertEqual(self.ended(), ["no_application"])

    def test_silent_agents(self) -> None:
        """Where a client cannot tell, its silence means nothing: also after it has left."""
        self.playbook.agent("ruby", features=OF_AGENTS).dies()
        self.playbook.take()
        self.registers()
        self.calls()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.assertEqual(self.ended(), [])

    def test_run_command(self) -> None:
        """A command that `trafficmock run` starts is no such client once its process tells."""
        self.run_command()
        self.registers()
        self.calls()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.assertEqual(self.ended(), [])
        self.playbook.agent("app", features=TELLING)
        self.registers()
        self.calls()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.playbook.wait(REPORT_SECONDS)
        self.assertEqual(self.ended(), ["no_application"])

    def run_command(self, **said: Any) -> None:
        self.playbook.agent("trafficmock run", command="trafficmock run", **said).closes()
        self.playbook.take()

    def concluded(self) -> list[str]:
        """Give the errors of a test that has called an application that reports nothing."""
        self.registers()
        self.calls()
        self.worker.sends(inbound.TestUnregister("buys"))
        if self.playbook.coordinator.ended_tests.unseen_contexts.waiting:
            self.playbook.wait(REPORT_SECONDS)
        return self.ended()

    def test_processes(self) -> None:
        """Several processes of one command are one of the commands that were started."""
        for _ in range(2):
            self.run_command()
        for name in ("worker 1", "worker 2"):
            self.playbook.agent(name, features=TELLING, command="gunicorn -w 2 shop:app")
        self.assertEqual(self.concluded(), [])
        self.playbook.agent("other", features=TELLING, command="node other.mjs")
        self.assertEqual(self.concluded(), ["no_application"])

    def test_process_again(self) -> None:
        """A process that connects again is not the command that was started meanwhile."""
        self.run_command()
        self.playbook.agent("shop", features=TELLING)
        self.assertEqual(self.concluded(), [])

    def test_command_of_earlier_run(self) -> None:
        """A command that has not told of itself may serve in the next run, too."""
        self.other.sends(inbound.RunStrict("q", []))
        self.playbook.take()
        self.run_command()
        self.other.closes()
        self.playbook.take()
        self.assertEqual(self.concluded(), [])

    def test_ended_command(self) -> None:
        """One that has ended when the next run begins does not, nor one that has told."""
        running = {"boot pid:1 4711 9"}
        self.playbook.coordinator.state.strictness.applications.may_run = running.__contains__
        self.other.sends(inbound.RunStrict("q", []))
        self.playbook.take()
        self.run_command(pid=4711, process_mark="boot pid:1 4711 9")
        self.run_command(pid=12, process_mark="boot pid:1 12 9")
        self.playbook.agent("app", features=TELLING, pid=12)
        self.assertEqual(self.concluded(), [])
        self.next_run()
        self.assertEqual(self.concluded(), [])
        running.clear()
        self.next_run()
        self.assertEqual(self.concluded(), ["no_application"])

    def next_run(self) -> None:
        self.other.sends(inbound.RunStrict("q", []))
        self.playbook.take()
        self.other.closes()
        self.playbook.take()
        self.other = self.playbook.worker("1", features=OF_WORKERS)

    def test_other_agents(self) -> None:
        """An agent of npm says nothing of itself, and is silent, whoever comes after it."""
        self.playbook.agent("npm")
        self.playbook.agent("app", features=TELLING)
        self.assertEqual(self.concluded(), [])

    def test_silent_command(self) -> None:
        """An agent that cannot tell is silent also if it names its command."""
        self.playbook.agent("ruby", features=OF_AGENTS, command="ruby shop.rb")
        self.playbook.agent("app", features=TELLING, command="node app.mjs")
        self.assertEqual(self.concluded(), [])

    def test_worker_lost(self) -> None:
        """A test that waits is forgotten with its worker."""
        self.registers()
        self.calls()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.worker.dies()
        self.playbook.take()
        self.playbook.wait(REPORT_SECONDS)
        self.assertEqual(messages(self.playbook.take(), self.worker), [])

    def test_next_run(self) -> None:
        """The clients of an earlier run that have left do not count in the next."""
        ruby = self.playbook.agent("ruby", features=OF_AGENTS)
        self.other.sends(inbound.RunStrict("q", []))
        self.playbook.take()
        ruby.dies()
        self.playbook.take()
        self.other.closes()
        self.playbook.take()
        self.registers()
        self.calls()
        self.worker.sends(inbound.TestUnregister("buys", UNSET))
        self.playbook.wait(REPORT_SECONDS)
        self.assertEqual(self.ended(), ["no_application"])
