"""Hosts as certificates name them."""

import ipaddress

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.certificates.names import BadNameError, certificate_name

NAMES = {
    "api.example": "api.example",
    "API.Example.": "api.example",
    "bücher.example": "xn--bcher-kva.example",
    "xn--bcher-kva.example": "xn--bcher-kva.example",
    "my_service.internal": "my_service.internal",
    "localhost": "localhost",
    "127.0.0.1": ipaddress.ip_address("127.0.0.1"),
    "\uff11\uff127\u30020.0.1": ipaddress.ip_address("127.0.0.1"),
    "[::1]": ipaddress.ip_address("::1"),
    "fe80::1%eth0": ipaddress.ip_address("fe80::1"),
    "2001:DB8:0::1": ipaddress.ip_address("2001:db8::1"),
}

BAD = ["", ".", "a..b", "-a.example", "a b", "*.example", "a/b", "a\n", "a" * 64, "b." * 200 + "b"]


class NameTests(SynchronousTestCase):
    """One host, one name, however it is written."""

    def test_names(self) -> None:
        """Names become lower-case ASCII, addresses become addresses."""
        self.assertEqual({host: certificate_name(host) for host in NAMES}, NAMES)

    def test_bad(self) -> None:
        """What is no host is refused."""
        for host in BAD:
            self.assertRaises(BadNameError, certificate_name, host)

    @given(st.text() | st.text(alphabet="aA1-_.:[]%ü。*", max_size=20))
    def test_anything(self, host: str) -> None:
        """Whatever a client writes, there is a name that stays as it is, or a refusal."""
        try:
            name = certificate_name(host)
        except BadNameError:
            return
        self.assertEqual(certificate_name(str(name)), name)
