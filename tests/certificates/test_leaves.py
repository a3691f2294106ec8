"""Certificates of hosts, and how they name them."""

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.certificates.authority import open_authority
from trafficmock.certificates.leaves import LeafMaker, is_fresh
from trafficmock.certificates.names import BadNameError, certificate_name

NOW = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)

LABELS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True)
HOSTS = (
    st.lists(LABELS, min_size=1, max_size=6).map(".".join)
    | st.ip_addresses().map(str)
    | st.sampled_from(["bücher.example", "例え.テスト", "a" * 63 + ".example"])
)


class LeafTests(SynchronousTestCase):
    """A leaf is what a client wants to see."""

    def setUp(self) -> None:
        self.maker = LeafMaker(open_authority(Path(self.mktemp()), NOW))

    def made(self, host: str) -> x509.Certificate:
        return self.maker.make(certificate_name(host), NOW)

    def test_validity(self) -> None:
        """It is valid since yesterday and for 397 days in all, the most that browsers take."""
        leaf = self.made("a.example")
        self.assertEqual(leaf.not_valid_before_utc, NOW - DAY)
        self.assertEqual(leaf.not_valid_after_utc - leaf.not_valid_before_utc, 397 * DAY)
        self.assertTrue(is_fresh(leaf, NOW + 394 * DAY))
        self.assertFalse(is_fresh(leaf, NOW + 396 * DAY))

    def test_unlike(self) -> None:
        """No two have the same serial number, also for one host."""
        self.assertNotEqual(self.made("a.b").serial_number, self.made("a.b").serial_number)

    def test_long_name(self) -> None:
        """A name that is longer than a common name may be stands where clients look for it."""
        host = ".".join(["a" * 60] * 3)
        names = self.made(host).extensions.get_extension_for_class(x509.SubjectAlternativeName)
        self.assertEqual(names.value.get_values_for_type(x509.DNSName), [host])

    @given(HOSTS)
    def test_verified(self, host: str) -> None:
        """Whatever the host, a strict verifier takes its certificate for that host."""
        name = certificate_name(host)
        leaf = self.maker.make(name, NOW)
        subject = x509.DNSName(name) if isinstance(name, str) else x509.IPAddress(name)
        verifier = (
            PolicyBuilder()
            .store(Store([self.maker.authority.certificate]))
            .time(NOW)
            .build_server_verifier(subject)
        )
        self.assertEqual(verifier.verify(leaf, [])[0], leaf)


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
