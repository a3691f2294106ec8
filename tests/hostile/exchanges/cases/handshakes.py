"""Handshakes of WebSockets on ``/ws`` that are wrong (RFC 6455 section 4.2.1)."""

from tests.hostile.clients.raw import HANDSHAKE
from tests.hostile.exchanges.case import Case, framed

_KEY = b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="


def _answered(
    name: str, old: bytes, new: bytes, status: int = 400, code: str = "bad_request"
) -> Case:
    """Make a case of the handshake with one part replaced."""
    sent = HANDSHAKE.replace(old, new, 1)
    return Case(
        name, sent, (status,), code, kept=False, half_close=True, rule="RFC 6455 section 4.2.1"
    )


HANDSHAKES = (
    framed("as it should be", b""),
    _answered("no key", _KEY + b"\r\n", b""),
    _answered("short key", _KEY, b"sec-websocket-key: abc"),
    _answered("two keys", _KEY, _KEY + b"\r\n" + _KEY),
    _answered("no version", b"sec-websocket-version: 13\r\n", b""),
    _answered("another version", b"-version: 13", b"-version: 99"),
    _answered("version in words", b"-version: 13", b"-version: new"),
    _answered("another upgrade", b"upgrade: websocket", b"upgrade: h2c", 426, "upgrade_required"),
    _answered("an origin", b"host:", b"origin: http://e.test\r\nhost:", 403, "origin_not_allowed"),
    _answered("another host", b"127.0.0.1", b"evil.example", 403, "host_not_allowed"),
    _answered("two hosts", b"host:", b"host: localhost\r\nhost:"),
    _answered("HTTP/1.0", b"HTTP/1.1", b"HTTP/1.0", 426, "upgrade_required"),
    _answered("POST", b"GET", b"POST", 405, "method_not_allowed"),
)
