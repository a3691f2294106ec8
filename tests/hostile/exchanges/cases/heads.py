"""Requests to the service itself that are not HTTP, too long, or for somebody else."""

from tests.hostile.exchanges.case import Case, refused

HEAD_LIMIT = 65536
_LINE = b"x-filler: " + b"f" * 1000 + b"\r\n"


def _health(*lines: bytes, line: bytes = b"GET /health HTTP/1.1") -> bytes:
    return b"".join(one + b"\r\n" for one in [line, *lines]) + b"\r\n"


def _long(name: str, sent: bytes) -> Case:
    return refused(name, sent, status=431, code="headers_too_large")


def _told(name: str, sent: bytes, status: int, code: str) -> Case:
    """Make a case of a request that is well-formed but not for the service."""
    return Case(name, sent, (status,), code, kept=False, half_close=True)


_HOST = b"host: localhost"
_LENGTH, _CHUNKED = b"content-length: 4", b"transfer-encoding: chunked"
_POST = b"POST /health HTTP/1.1"

HEADS = (
    Case("as it should be", _health(_HOST), kept=False, half_close=True),
    refused("junk words", _health(line=b"junk junk junk junk")),
    refused("one word", _health(line=b"GET")),
    refused("no version", _health(line=b"GET /health")),
    refused("another version", _health(_HOST, line=b"GET /health HTTP/9.9")),
    refused("no colon", _health(b"host localhost")),
    refused("blank before the colon", _health(b"host : localhost")),
    refused("control character in a name", _health(b"ho\x01st: localhost")),
    refused("NUL in a value", _health(b"host: local\x00host")),
    refused("content-length in words", _health(b"content-length: many")),
    refused("negative content-length", _health(b"content-length: -1")),
    refused("two lengths", _health(b"content-length: 1", b"content-length: 2")),
    refused("length and chunks", _health(_HOST, _LENGTH, _CHUNKED, line=_POST) + b"0\r\n\r\n"),
    refused("unknown transfer coding", _health(b"transfer-encoding: gzip", line=_POST)),
    refused("chunk without a length", _health(_HOST, _CHUNKED, line=_POST) + b"zz\r\n\r\n"),
    refused("bytes beyond ASCII", _health(_HOST, line=b"GET /\xff\xfe HTTP/1.1")),
    refused("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    refused("TLS", bytes.fromhex("16030100c8010000c40303") + b"\r\n\r\n"),
    _long("a long request line", b"GET /" + b"a" * HEAD_LIMIT),
    _long("a long request line, ended", b"GET /" + b"a" * HEAD_LIMIT + b" HTTP/1.1\r\n\r\n"),
    _long("one long header", b"GET / HTTP/1.1\r\nx: " + b"a" * 10 * HEAD_LIMIT),
    _long("many headers", b"GET / HTTP/1.1\r\n" + _LINE * 70),
    _long("many short headers", b"GET / HTTP/1.1\r\n" + b"a:b\r\n" * 600),
    _long("a folded header", b"GET / HTTP/1.1\r\nx: y\r\n" + b" folded\r\n" * 10_000),
    _long("no line at all", b"a" * (HEAD_LIMIT + len(b"\r\n"))),
    _told("another host", _health(b"host: evil.example"), 403, "host_not_allowed"),
    _told("an invalid host", _health(b"host: a b/c"), 403, "host_not_allowed"),
    _told("no host", _health(), 400, "bad_request"),
    _told("two hosts", _health(_HOST, _HOST), 400, "bad_request"),
    _told(
        "no such server",
        _health(b"host: 127.0.0.1:1", line=b"GET http://127.0.0.1:1/x HTTP/1.1"),
        502,
        "upstream_unreachable",
    ),
    _told(
        "CONNECT without a port",
        _health(b"host: upstream.test", line=b"CONNECT upstream.test HTTP/1.1"),
        400,
        "bad_request",
    ),
    _told("no path", _health(_HOST, line=b"GET health HTTP/1.1"), 400, "bad_request"),
    _told("lower case", _health(_HOST, line=b"get /health HTTP/1.1"), 405, "method_not_allowed"),
    _told(
        "unknown method", _health(_HOST, line=b"BREW /health HTTP/1.1"), 405, "method_not_allowed"
    ),
    _told("bad escape", _health(_HOST, line=b"GET /api/history/%zz HTTP/1.1"), 404, "not_found"),
    _told(
        "invalid UTF-8", _health(_HOST, line=b"GET /api/history/%ff%fe HTTP/1.1"), 404, "not_found"
    ),
    _told("dots", _health(_HOST, line=b"GET /../../etc/passwd HTTP/1.1"), 404, "not_found"),
)
