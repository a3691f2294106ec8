"""Libraries that an agent cannot change."""

from typing import Any

from attrs import evolve

from tests.core.ownership.context_case import A, B, ContextCase
from tests.support.playbook import SETTINGS, Playbook
from trafficmock.core.effects import Send
from trafficmock.core.isolation.unhooked_libraries import MOST_UNHOOKED
from trafficmock.server.rest.connections_report import connections_report
from trafficmock.wire import inbound
from trafficmock.wire.local_reports import LibraryUnhooked
from trafficmock.wire.outbound import UNHOOKED_LIBRARY, TestRegistered, TestWarning

OURS = ("chain", "context", "headers-list", "subscribe", "warnings")
FASTQ = LibraryUnhooked("fastq", "/app/server.js")


class UnhookedLibrariesTests(ContextCase):
    """Workers are warned once of what agents tell."""

    def begin(self, **settings: Any) -> None:
        self.playbook = Playbook(self, evolve(SETTINGS, **settings))
        self.mine = self.playbook.worker("0", features=OURS)
        self.theirs = self.playbook.worker("1", features=OURS)
        self.agent = self.playbook.agent(features=["context", "stream"])

    def told(self, message: LibraryUnhooked = FASTQ) -> list[TestWarning]:
        self.agent.sends(message)
        return [each for _, each in self.sent(TestWarning)]

    def test_running(self) -> None:
        """A test of each worker is warned, once, of each library."""
        self.registered(self.mine, "buys", A)
        self.registered(self.mine, "too")
        self.registered(self.theirs, "sells", B)
        told = self.told()
        self.assertEqual([each.test_id for each in told], ["buys", "sells"])
        self.assertEqual({each.code for each in told}, {UNHOOKED_LIBRARY})
        self.assertIn('fastq in /app/server.js of the application "app"', told[0].message)
        self.assertEqual(self.told(), [])
        self.assertEqual(len(self.told(LibraryUnhooked("async", "/app/server.js"))), 2)

    def test_later(self) -> None:
        """The first test that begins after it is warned, behind its acknowledgement."""
        self.assertEqual(self.told(), [])
        self.registered(self.mine, "for all", shared=True)
        self.mine.sends(inbound.TestRegister("buys", "buys", "buys.py", "0", A))
        sent = [each.message for each in self.playbook.take() if isinstance(each, Send)]
        self.assertEqual([type(each) for each in sent], [TestRegistered, TestWarning])
        self.registered(self.mine, "next", B)

    def test_shown(self) -> None:
        """The connections list them, a limited number."""
        for number in range(MOST_UNHOOKED + 2):
            self.told(LibraryUnhooked("pg", f"/app/{number}.js"))
        (row,) = connections_report(self.playbook.coordinator)["nodeAgents"]
        self.assertEqual(len(row["unhooked"]), MOST_UNHOOKED)
        self.assertEqual(row["unhooked"][0], {"library": "pg", "file": "/app/0.js"})
