"""Agents say where requests without a context come from only while tests with contexts run."""

from msgspec import UNSET

from tests.core.ownership.context_case import A, B, ContextCase
from trafficmock.wire import inbound
from trafficmock.wire.agent_filter import Origins
from trafficmock.wire.features import ORIGINS
from trafficmock.wire.outbound import HelloOk


class WantedOriginsTests(ContextCase):
    """An agent with the feature, one without, and the workers of two tests."""

    def begin(self, **settings: object) -> None:
        super().begin(**settings)
        self.telling = self.playbook.agent("telling", features=["context", ORIGINS])

    def end(self, title: str) -> list[tuple[tuple[str, ...], Origins]]:
        worker = self.mine if title == "buys" else self.theirs
        worker.sends(inbound.TestUnregister(title))
        return self.sent(Origins)

    def begins(self, title: str, context: str) -> list[tuple[tuple[str, ...], Origins]]:
        worker = self.mine if title == "buys" else self.theirs
        worker.sends(inbound.TestRegister(title, title, "f.py", worker.id[-1], context))
        return self.sent(Origins)

    def test_told(self) -> None:
        """The first test and the end of the last one are told, to agents with the feature."""
        self.assertEqual(self.end("buys"), [])
        self.assertEqual(self.end("sells"), [((self.telling.id,), Origins(wanted=False))])
        self.assertEqual(self.begins("buys", A), [((self.telling.id,), Origins(wanted=True))])
        self.assertEqual(self.begins("sells", B), [])

    def test_hello(self) -> None:
        """A new agent is told by the answer to its hello, if it has the feature."""
        self.assertEqual(self.welcomed("first", ORIGINS), [True])
        self.assertEqual(self.welcomed("second", "context"), [UNSET])
        self.end("buys")
        self.end("sells")
        self.assertEqual(self.welcomed("third", ORIGINS), [False])

    def welcomed(self, name: str, feature: str) -> list[object]:
        peer = self.playbook.connect(name)
        peer.sends(inbound.Hello(3, "0.1.0", "node", name, features=[feature]))
        return [welcome.origins for _, welcome in self.sent(HelloOk)]

    def test_lost_worker(self) -> None:
        """Tests end with their worker, too."""
        self.end("sells")
        self.playbook.disconnect(self.mine.id)
        self.assertEqual(self.sent(Origins), [((self.telling.id,), Origins(wanted=False))])
