"""IPv6 addresses as people write them."""

import ipaddress

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.attach.java import read_ipv6


class ReadTests(SynchronousTestCase):
    """What is an address, and what is a host with a port or nothing at all."""

    def test_addresses(self) -> None:
        """Bare or in brackets, it comes out as URLs have it."""
        for text, expected in (
            ("::1", "::1"),
            ("[::1]", "::1"),
            ("2001:DB8:0:0::1", "2001:db8::1"),
            ("[::]", "::"),
            ("::1:80", "::1:80"),
        ):
            self.assertEqual(read_ipv6(text), expected)

    def test_others(self) -> None:
        """Names, IPv4, ports, zones and halves are not IPv6 addresses."""
        for text in ("", "a", "a:80", "1.2.3.4", "[::1]:80", "[::1", "::1]", "[]", "fe80::1%eth0"):
            self.assertIsNone(read_ipv6(text), text)

    @given(st.ip_addresses(v=6))
    def test_all(self, address: ipaddress.IPv6Address) -> None:
        """Every address is one, in both forms."""
        for text in (address.exploded, f"[{address.exploded}]"):
            self.assertEqual(read_ipv6(text), str(address))

    @given(st.text("[]:%019afx.", max_size=12))
    def test_any_text(self, text: str) -> None:
        """What is read is read again as the same."""
        found = read_ipv6(text)
        self.assertEqual(found, found and read_ipv6(found))
