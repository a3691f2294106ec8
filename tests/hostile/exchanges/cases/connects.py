"""CONNECT (RFC 9110 section 9.3.6, RFC 9112 section 3.2.3)."""

from tests.hostile.exchanges.case import Arrives, Case, get, refused

_RULE = "RFC 9112 section 3.2.3"
_CONTENT = "RFC 9110 section 9.3.6"
_ASK = b"GET /c HTTP/1.1\r\nHost: {U}\r\n\r\n"


def _connect(target: bytes, *lines: bytes) -> bytes:
    return get(*lines, line=b"CONNECT " + target + b" HTTP/1.1")


def _refused(name: str, target: bytes, *lines: bytes, rule: str = _RULE) -> Case:
    return refused(name, _connect(target, *lines), rule)


CONNECTS = (
    Case("plain HTTP within", _connect(b"{U}") + _ASK, (200, 200), None, (Arrives(),), rule=_RULE),
    Case(
        "two requests within",
        _connect(b"{U}") + _ASK * 2,
        (200, 200, 200),
        None,
        (Arrives(),) * 2,
        rule=_RULE,
    ),
    Case(
        "length and chunks within",
        _connect(b"{U}") + b"POST /c HTTP/1.1\r\nHost: {U}\r\nContent-Length: 4\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        (200, 400),
        "bad_request",
        kept=False,
        rule="RFC 9112 section 6.3",
    ),
    Case(
        "a fold within",
        _connect(b"{U}") + b"GET /c HTTP/1.1\r\nHost: {U}\r\nX: y\r\n z\r\n\r\n",
        (200, 400),
        "bad_request",
        kept=False,
        rule="RFC 9112 section 5.2",
    ),
    Case(
        "CONNECT within",
        _connect(b"{U}") + _connect(b"{U}"),
        (200, 400),
        "bad_request",
        kept=False,
        rule=_RULE,
    ),
    _refused("a URL", b"http://{U}/"),
    _refused("a path", b"/c"),
    _refused("an asterisk", b"*"),
    _refused("no port", b"127.0.0.1"),
    _refused("an empty port", b"127.0.0.1:"),
    _refused("no host", b":443"),
    _refused("port 0", b"127.0.0.1:0"),
    _refused("a port beyond 65535", b"127.0.0.1:65536"),
    _refused("a port in letters", b"127.0.0.1:https"),
    _refused("a port with a sign", b"127.0.0.1:+443"),
    _refused("a path behind the port", b"{U}/c"),
    _refused("a query behind the port", b"{U}?c"),
    _refused("a fragment behind the port", b"{U}#c"),
    _refused("a user", b"user@{U}"),
    _refused("two hosts", b"{U},{U}"),
    _refused("IPv6 without brackets", b"::1:443"),
    _refused("IPv6 without a port", b"[::1]"),
    _refused("a bracket that stays open", b"[::1:443"),
    _refused("a percent escape", b"127.0.0.%31:443"),
    _refused("a NUL", b"127.0.0.1\x00:443"),
    _refused("a byte beyond ASCII", b"\xc3\xa9.test:443"),
    _refused("a length", b"{U}", b"Content-Length: 4", rule=_CONTENT),
    _refused("chunks", b"{U}", b"Transfer-Encoding: chunked", rule=_CONTENT),
    _refused("length and chunks", b"{U}", b"Content-Length: 4", b"Transfer-Encoding: chunked"),
    _refused("two hosts in the head", b"{U}", b"Host: other.test"),
    refused("no Host", get(line=b"CONNECT {U} HTTP/1.1", host=False), "RFC 9112 section 3.2"),
    refused(
        "connect in lower case",
        get(line=b"connect {U} HTTP/1.1"),
        "RFC 9110 section 9.1",
        half_close=True,
    ),
    refused(
        "to the proxy itself",
        _connect(b"{OWN}"),
        "RFC 9110 section 7.6.3",
        status=508,
        code="loop_detected",
    ),
)
