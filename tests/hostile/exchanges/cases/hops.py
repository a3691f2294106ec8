"""Fields of one hop, expectations and upgrades (RFC 9110 sections 7.6, 7.8 and 10.1.1)."""

from collections.abc import Mapping

from tests.hostile.exchanges.case import Case, get, passed, post, refused

_CONNECTION = "RFC 9110 section 7.6.1"
_UPGRADE = "RFC 9110 section 7.8"
_EXPECT = "RFC 9110 section 10.1.1"
_KEY = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="


def _hop(name: str, *lines: bytes, kept: bool = True, **headers: str | None) -> Case:
    wanted: Mapping[str, str | None] = {k.replace("_", "-"): v for k, v in headers.items()}
    return passed(name, get(*lines), _CONNECTION, headers=wanted, kept=kept)


def _upgrade(name: str, *lines: bytes) -> Case:
    gone = {"upgrade": None, "http2-settings": None}
    return passed(name, get(*lines), _UPGRADE, headers=gone)


HOPS = (
    _hop(
        "a field that Connection names", b"Connection: X-A", b"X-A: b", b"X-B: c", x_a=None, x_b="c"
    ),
    _hop("named in other letters", b"Connection: x-a", b"X-A: b", x_a=None),
    _hop("named in a list", b"Connection: ,X-A , X-B", b"X-A: b", b"X-B: c", x_a=None, x_b=None),
    _hop("named in a second line", b"Connection: X-A", b"Connection: X-B", b"X-B: c", x_b=None),
    _hop("Connection names Host", b"Connection: Host", host="{U}"),
    _hop("Connection names itself", b"Connection: Connection"),
    _hop("Connection names nothing that is", b'Connection: X-Nothing, @@@, "', x_nothing=None),
    _hop("Connection: close", b"Connection: close, X-A", b"X-A: b", kept=False, x_a=None),
    _hop("Keep-Alive", b"Keep-Alive: timeout=5", b"Connection: Keep-Alive", keep_alive=None),
    _hop("Proxy-Connection", b"Proxy-Connection: keep-alive", proxy_connection=None),
    _hop(
        "Proxy-Authorization", b"Proxy-Authorization: Basic b3JkZXJzOg==", proxy_authorization=None
    ),
    _hop("TE", b"TE: trailers, gzip", b"Connection: TE", te=None),
    _hop("Trailer", b"Trailer: X-A", trailer=None),
    _hop("Cookie stays", b"Cookie: a=b", b"Connection: keep-alive", cookie="a=b"),
    passed(
        "Connection names Content-Length",
        post(b"Connection: Content-Length", b"Content-Length: 4", body=b"abcd"),
        _CONNECTION,
        method="POST",
        body=b"abcd",
    ),
    passed(
        "Connection names Transfer-Encoding",
        post(
            b"Connection: Transfer-Encoding",
            b"Transfer-Encoding: chunked",
            body=b"4\r\nabcd\r\n0\r\n\r\n",
        ),
        _CONNECTION,
        method="POST",
        body=b"abcd",
    ),
    _upgrade(
        "h2c", b"Upgrade: h2c", b"Connection: Upgrade, HTTP2-Settings", b"HTTP2-Settings: AAMAAABk"
    ),
    _upgrade("h2c that Connection does not name", b"Upgrade: h2c"),
    _upgrade("an unknown protocol", b"Upgrade: chat/2", b"Connection: upgrade"),
    _upgrade("an upgrade to nothing", b"Upgrade:", b"Connection: upgrade"),
    _upgrade("TLS within HTTP", b"Upgrade: TLS/1.0", b"Connection: Upgrade"),
    refused(
        "a WebSocket without a key",
        get(b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Version: 13"),
        "RFC 6455 section 4.2.1",
    ),
    refused(
        "a WebSocket with a bad key",
        get(
            b"Upgrade: websocket",
            b"Connection: Upgrade",
            b"Sec-WebSocket-Version: 13",
            b"Sec-WebSocket-Key: short",
        ),
        "RFC 6455 section 4.2.1",
    ),
    passed(
        "a POST does not open a WebSocket",
        post(
            b"Upgrade: websocket",
            b"Connection: Upgrade",
            b"Sec-WebSocket-Version: 13",
            _KEY,
            b"Content-Length: 4",
            body=b"abcd",
        ),
        "RFC 6455 section 4.1",
        method="POST",
        headers={"upgrade": None},
        body=b"abcd",
    ),
    passed(
        "100-continue with a body behind it",
        post(b"Expect: 100-continue", b"Content-Length: 4", body=b"abcd"),
        _EXPECT,
        method="POST",
        body=b"abcd",
    ),
    passed(
        "100-continue in other letters",
        post(b"Expect: 100-Continue", b"Content-Length: 4", body=b"abcd"),
        _EXPECT,
        method="POST",
        body=b"abcd",
    ),
    passed("100-continue without a body", get(b"Expect: 100-continue"), _EXPECT),
    passed("an unknown expectation may be met", get(b"Expect: 200-ok"), _EXPECT),
)
