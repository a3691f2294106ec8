"""Request lines (RFC 9112 sections 2.2, 2.3 and 3)."""

from tests.hostile.exchanges.case import Case, get, passed, refused

_R3 = "RFC 9112 section 3"
_R22 = "RFC 9112 section 2.2"
_R23 = "RFC 9112 section 2.3"


def _line(line: bytes) -> bytes:
    return get(line=line)


def _version(version: bytes) -> bytes:
    return _line(b"GET http://{U}/c " + version)


def _unspoken(name: str, version: bytes) -> Case:
    return refused(
        name, _version(version), "RFC 9110 section 15.6.6", status=505, code="version_not_supported"
    )


LINES = (
    passed("as it should be", get(), _R3),
    passed("an empty line before it", b"\r\n" + get(), _R22),
    passed("another method", _line(b"BREW http://{U}/c HTTP/1.1"), _R3, method="BREW"),
    passed("a method in lower case is another", _line(b"get http://{U}/c HTTP/1.1"), method="get"),
    passed(
        "every character that a token may have",
        _line(b"!#$%&'*+-.^_`|~09AZ http://{U}/c HTTP/1.1"),
        "RFC 9110 section 5.6.2",
        method="!#$%&'*+-.^_`|~09AZ",
    ),
    passed("HTTP/1.0", get(line=b"GET http://{U}/c HTTP/1.0", host=False), _R23, kept=False),
    refused("two spaces before the target", _line(b"GET  http://{U}/c HTTP/1.1"), _R3),
    refused("two spaces before the version", _line(b"GET http://{U}/c  HTTP/1.1"), _R3),
    refused("a space before the method", _line(b" GET http://{U}/c HTTP/1.1"), _R22),
    refused("a space behind the version", _line(b"GET http://{U}/c HTTP/1.1 "), _R3),
    refused("tabs between the parts", _line(b"GET\thttp://{U}/c\tHTTP/1.1"), _R3),
    refused("a vertical tab between the parts", _line(b"GET\x0bhttp://{U}/c HTTP/1.1"), _R3),
    refused("a fourth word", _line(b"GET http://{U}/c HTTP/1.1 more"), _R3),
    refused("a space in the target", _line(b"GET http://{U}/c d HTTP/1.1"), _R3),
    refused("no target", _line(b"GET HTTP/1.1"), _R3),
    refused("an empty target", _line(b"GET  HTTP/1.1"), _R3),
    refused("a method alone", _line(b"GET"), _R3),
    refused("no method", _line(b"http://{U}/c HTTP/1.1"), _R3),
    refused("a method that is no token: (", _line(b"G(T http://{U}/c HTTP/1.1"), _R3),
    refused("a method that is no token: @", _line(b"G@T http://{U}/c HTTP/1.1"), _R3),
    refused("a method with a colon", _line(b"GET: http://{U}/c HTTP/1.1"), _R3),
    refused("a method with a byte beyond ASCII", _line(b"G\xc3\x8bT http://{U}/c HTTP/1.1"), _R3),
    refused("a method with a NUL", _line(b"GE\x00T http://{U}/c HTTP/1.1"), _R3),
    refused("a quoted method", _line(b'"GET" http://{U}/c HTTP/1.1'), _R3),
    refused("a line ended by LF alone", get().replace(b"HTTP/1.1\r\n", b"HTTP/1.1\n"), _R22),
    refused("all lines ended by LF alone", get().replace(b"\r\n", b"\n"), _R22),
    refused("all lines ended by CR alone", get().replace(b"\r\n", b"\r") + b"\r\n\r\n", _R22),
    refused("a CR before the version", _line(b"GET http://{U}/c\r HTTP/1.1"), _R22),
    refused("two CR before the LF", get().replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\r\n"), _R22),
    refused("HTTP/0.9", _line(b"GET http://{U}/c"), _R23),
    _unspoken("HTTP/0.9 by name", b"HTTP/0.9"),
    _unspoken("HTTP/2.0", b"HTTP/2.0"),
    refused("HTTP/3", _version(b"HTTP/3"), _R23),
    refused("a version in lower case", _version(b"http/1.1"), _R23),
    refused("a version of three parts", _version(b"HTTP/1.1.1"), _R23),
    refused("a version with a leading zero", _version(b"HTTP/01.1"), _R23),
    refused("a version of two digits", _version(b"HTTP/1.10"), _R23),
    refused("a version with a sign", _version(b"HTTP/+1.1"), _R23),
    refused("a version with a comma", _version(b"HTTP/1,1"), _R23),
    refused("half a version", _version(b"HTTP/1."), _R23),
    refused("another protocol", _version(b"ICAP/1.0"), _R23),
    refused("a version with a NUL", _version(b"HTTP/1.1\x00"), _R23),
    refused("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "RFC 9113 section 3.4"),
    refused("TLS where HTTP is due", bytes.fromhex("16030100c8010000c40303") + b"\r\n\r\n"),
)
