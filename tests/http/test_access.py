"""Who may come in: DNS rebinding, foreign pages and other machines are kept out."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.http.access import AccessPolicy
from trafficmock.http.responses import RestError
from trafficmock.http.this_service import ThisService

GUARD = AccessPolicy(
    service=ThisService(
        ["10.1.2.3", "0.0.0.0"],  # noqa: S104 - must not count as a name
        ["Box.example:4310", "fd00::5"],
    )
)
ANY_HEADER = st.one_of(st.none(), st.text(), st.from_regex(r"[\[\]a-z0-9.:/@%-]{0,30}"))


def code(refusal: RestError | None) -> str | None:
    return None if refusal is None else refusal.code


class HostTests(SynchronousTestCase):
    """A Host that is not ours is refused, which defeats DNS rebinding."""

    def test_own_names(self) -> None:
        """Loopback, the host listened on, the address bound and allowed names are ours."""
        for host in (
            None,
            "localhost",
            "a.localhost:1",
            "127.0.0.2:4310",
            "[::1]",
            "10.1.2.3:4310",
            "192.168.0.9",
            "box.example",
            "BOX.EXAMPLE:80",
            "[fd00::5]:4310",
        ):
            self.assertIsNone(GUARD.host_refusal(host, "192.168.0.9"), host)

    def test_foreign_names(self) -> None:
        """Any other host is a 403 that names the option to allow it."""
        for host in ("evil.example", "localhost.evil.example:4310", "0.0.0.0", "10.1.2.4"):  # noqa: S104 - nobody's name
            refusal = GUARD.host_refusal(host, "192.168.0.9")
            assert refusal is not None, host
            self.assertEqual((refusal.status, refusal.code), (403, "host_not_allowed"))
            self.assertIn("--allowed-host", refusal.message)

    def test_unreadable(self) -> None:
        """A Host that cannot be read is refused."""
        for host in ("", "localhost, evil.example", "evil.example@localhost", "[::1"):
            self.assertEqual(code(GUARD.host_refusal(host, None)), "host_not_allowed", host)

    def test_mapped_binding(self) -> None:
        """An IPv4 address bound through IPv6 is the same address."""
        self.assertIsNone(GUARD.host_refusal("192.168.0.9:4310", "::ffff:192.168.0.9"))

    @given(ANY_HEADER, ANY_HEADER)
    def test_anything(self, host: str | None, bound: str | None) -> None:
        """No header makes it raise."""
        self.assertIn(code(GUARD.host_refusal(host, bound)), (None, "host_not_allowed"))


class OriginTests(SynchronousTestCase):
    """A page of a foreign origin must not reach the coordinator."""

    def test_let_in(self) -> None:
        """No origin, loopback pages, allowed ones and pages of our own host come in."""
        guard = AccessPolicy(cors_origins=["https://App.example/"])
        for origin, host in (
            (None, "localhost:4310"),
            ("http://localhost:3000", "localhost:4310"),
            ("https://127.0.0.1", "localhost:4310"),
            ("http://[::1]:5", "localhost:4310"),
            ("https://app.example", "localhost:4310"),
            ("http://10.0.0.5:4310", "10.0.0.5:4310"),
            ("http://box.example", "box.example"),
        ):
            self.assertIsNone(guard.websocket_origin_refusal(origin, host), origin)

    def test_kept_out(self) -> None:
        """Everything else is refused, the opaque origin too."""
        for origin in (
            "null",
            "",
            "http://evil.example",
            "http://localhost.evil.example",
            "http://10.0.0.5:80",
            "file://",
            "http://localhost@evil.example",
        ):
            refusal = AccessPolicy().websocket_origin_refusal(origin, "10.0.0.5:4310")
            self.assertEqual(code(refusal), "origin_not_allowed", origin)

    def test_open(self) -> None:
        """``*`` lets every page in."""
        guard = AccessPolicy(cors_origins=["*"])
        self.assertIsNone(guard.websocket_origin_refusal("null", None))

    @given(ANY_HEADER, ANY_HEADER)
    def test_anything(self, origin: str | None, host: str | None) -> None:
        """No header makes it raise."""
        GUARD.websocket_origin_refusal(origin, host)
        GUARD.cors_headers(
            None if origin is None else origin.encode("utf-8", "replace").decode("latin-1")
        )


class HistoryTests(SynchronousTestCase):
    """Beyond loopback the history is for this machine only."""

    def test_local_peers(self) -> None:
        """Loopback peers and UNIX sockets may read, however the address is written."""
        for peer in ("127.0.0.1", "127.1.1.1", "::1", "::ffff:127.0.0.1", None):
            self.assertIsNone(AccessPolicy().history_refusal(peer, "10.0.0.1"), peer)

    def test_bound_to_loopback(self) -> None:
        """What reached a loopback address is local."""
        self.assertIsNone(AccessPolicy().history_refusal("10.0.0.2", "127.0.0.1"))

    def test_other_machines(self) -> None:
        """Others are refused, and told which option opens it."""
        for peer in ("10.0.0.2", "::ffff:10.0.0.2", "fe80::1%eth0", "2001:db8::1"):
            refusal = AccessPolicy().history_refusal(peer, "10.0.0.1")
            assert refusal is not None, peer
            self.assertEqual((refusal.status, refusal.code), (403, "history_not_open"))
            self.assertIn("--open-history", refusal.message)

    def test_opened(self) -> None:
        """``--open-history`` lets others read."""
        self.assertIsNone(AccessPolicy(open_history=True).history_refusal("10.0.0.2", "10.0.0.1"))
