"""Requests that go past the proxy, because the application ignores their host."""

from msgspec import UNSET

from tests.core.strict.case import A, B, messages
from tests.core.strict.test_runs import RunCase
from trafficmock.core.effects import Effects
from trafficmock.wire import outbound
from trafficmock.wire.local_reports import RequestIgnored

PAID = "https://pay.test/v1/charges?n=1"


class IgnoredTests(RunCase):
    """They cannot be refused, but the test or the run fails, and names them."""

    def leaves(self, url: str = PAID, *, context: str | None = A) -> Effects:
        self.agent.sends(RequestIgnored("POST", url, context or UNSET))
        return self.playbook.take()

    def test_of_test(self) -> None:
        """The test fails; nothing is recorded, and the application gets nothing."""
        self.registers()
        self.routes("https://pay.test/**")
        effects = self.leaves()
        (error,) = self.told(effects)
        self.assertEqual(len(effects), 1)
        self.assertEqual((error.code, error.test_id), ("unmatched_request", "buys"))
        self.assertTrue(error.message.startswith("POST https://pay.test/v1/charges?n=1 went past"))
        self.assertIn("TRAFFICMOCK_IGNORE_HOSTS or --no-proxy names its host", error.message)
        self.assertIn("or allow pay.test", error.message)

    def test_of_one_of_several(self) -> None:
        """Of several tests the one fails whose context the request carried."""
        self.registers()
        self.registers("sells", context=B, worker=self.other)
        effects = self.leaves(context=B)
        self.assertEqual(self.told(effects), [])
        (error,) = self.told(effects, self.other)
        self.assertEqual(error.test_id, "sells")

    def test_allowed(self) -> None:
        """What the test allows, or is under test, may leave."""
        self.registers(allow=["pay.test"])
        self.assertEqual(list(self.leaves()), [])
        self.assertEqual(list(self.leaves("http://db:5432/")), [])
        self.assertEqual(len(self.told(self.leaves("https://mail.test/"))), 1)

    def test_not_strict(self) -> None:
        """Without strict mode nobody is told."""
        self.registers(allow=None)
        self.assertEqual(list(self.leaves()), [])

    def test_of_nobody(self) -> None:
        """In a strict run, one without a context is listed."""
        self.run_strict()
        self.registers(allow=None)
        self.assertEqual(messages(self.leaves(context=None), self.worker), [])
        self.leaves(context=None)
        listed = self.listed()
        assert isinstance(listed, outbound.Unmatched)
        (row,) = listed.requests
        self.assertEqual((row.method, row.url, row.count), ("POST", PAID, 2))
        self.assertIn("went past the proxy", row.message)
