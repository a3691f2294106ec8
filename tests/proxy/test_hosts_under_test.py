"""Hosts of the system under test."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.hosts_under_test import is_under_test


class HostTests(SynchronousTestCase):
    """Where a context may go on to."""

    def test_by_themselves(self) -> None:
        """Loopback, names below localhost, and names without a dot are under test."""
        for host in ("localhost", "app.localhost", "127.0.0.1", "127.9.9.9", "::1", "api", "my_db"):
            self.assertTrue(is_under_test(host, ()), host)

    def test_others(self) -> None:
        """Other names and addresses are not, however an address is written."""
        for host in (
            "api.test",
            "localhost.evil.test",
            "notlocalhost.test",
            "192.0.2.1",
            "134744072",
            "0x8080808",
            "0x",
            "2001:db8::1",
            "fe80::1",
        ):
            self.assertFalse(is_under_test(host, ()), host)

    def test_globs(self) -> None:
        """--own-host adds some."""
        globs = ("*.shop.test", "192.168.0.*", "API.test")
        for host, expected in (
            ("a.b.shop.test", True),
            ("shop.test", False),
            ("192.168.0.7", True),
            ("192.168.1.7", False),
            ("api.test", True),
        ):
            self.assertEqual(is_under_test(host, globs), expected, host)
