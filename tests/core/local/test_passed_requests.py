"""What is told of requests that passed unasked to whoever observes from a moment on."""

from tests.core.local.case import LocalCase
from tests.support.builders import redirect, report, request
from trafficmock.core.effects import Send
from trafficmock.wire import inbound, local_reports, outbound
from trafficmock.wire.inbound import Message
from trafficmock.wire.payloads import body


class SubscriptionTests(LocalCase):
    """A test subscribes while requests that passed unasked are on their way."""

    def told(self, *messages: Message) -> list[str]:
        """Let the agent say something; list what the worker is told of."""
        found = []
        for each in messages:
            self.agent.sends(each)
            found += [
                f"{effect.message.__struct_config__.tag} {_id_of(effect.message)}"
                for effect in self.playbook.take()
                if isinstance(effect, Send) and self.worker.id in effect.to
            ]
        return found

    def passes(
        self, request_id: str, n: int, *, body_pending: bool = False
    ) -> local_reports.RequestPassed:
        of = request("http://h.test/a")
        return local_reports.RequestPassed(request_id, "app", of, n, body_pending=body_pending)

    def subscribes(self) -> None:
        self.asks()
        self.worker.sends(inbound.TestSubscribe("t"))
        self.playbook.take()

    def test_under_way(self) -> None:
        """Of what passed before, only what comes after is told: the response."""
        self.subscribes()
        before = local_reports.Batch([self.passes("p1", 0), self.passes("p2", 0)], [3, 3])
        self.assertEqual(self.told(before, report("p1")), [])
        self.assertEqual(self.told(local_reports.Synced(1)), ["test:subscribed t"])
        self.assertEqual(self.told(report("p2")), ["request:response p2"])

    def test_redirect_of_before(self) -> None:
        """A redirect that was followed before is not told of, one that is followed later is."""
        self.subscribes()
        moved = inbound.RequestResponse("p1", ok=True, response=redirect("/b"))
        hops = [
            inbound.RequestObserve(name, "app", request("http://h.test/b"), prior)
            for name, prior in (("p2", "p1"), ("p3", "p2"))
        ]
        again = inbound.RequestResponse("p2", ok=True, response=redirect("/c"))
        before = local_reports.Batch([self.passes("p1", 0), moved, hops[0]], [3, 2, 1])
        self.assertEqual(self.told(before), [])
        self.told(local_reports.Synced(1))
        told = self.told(again, hops[1])
        self.assertEqual(told, ["request:response p2", "request:observed p3"])

    def test_body_of_before(self) -> None:
        """The body of a request of before makes it no request of now."""
        self.agent = self.playbook.agent("other", features=("local", "stream"))
        self.asks(self.agent)
        self.subscribes()
        self.told(self.passes("p1", 0, body_pending=True), local_reports.Synced(1))
        content = inbound.RequestBody("p1", body.from_bytes(b"x"))
        self.assertEqual(self.told(content, report("p1")), ["request:response p1"])

    def test_other_workers(self) -> None:
        """A worker that observes without asking is told of no response without its request."""
        self.asks()
        npm = self.playbook.worker("1")
        npm.sends(inbound.TestRegister("n", "n", "f.ts", "1"))
        self.playbook.take()
        self.worker = npm
        before = local_reports.Batch([self.passes("p1", 0)], [3])
        self.assertEqual(self.told(before, local_reports.Synced(1)), ["test:registered n"])
        self.assertEqual(self.told(report("p1")), [])


def _id_of(message: Message) -> str:
    if isinstance(message, (outbound.TestRegistered, outbound.TestSubscribed)):
        return message.test_id
    return str(getattr(message, "request_id", ""))
