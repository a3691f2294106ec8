"""Several requests on one connection (RFC 9112 section 9)."""

from tests.hostile.exchanges.case import Arrives, Case, get, post

_RULE = "RFC 9112 section 9.3.2"
_CLOSE = "RFC 9112 section 9.6"


def _get(path: bytes, *lines: bytes) -> bytes:
    return get(*lines, line=b"GET http://{U}" + path + b" HTTP/1.1")


_BAD = _get(b"/bad", b"X : y")

PIPELINES = (
    Case(
        "three at once",
        _get(b"/1") + _get(b"/2") + _get(b"/3"),
        (200, 200, 200),
        None,
        (Arrives("/1"), Arrives("/2"), Arrives("/3")),
        rule=_RULE,
    ),
    Case(
        "a hundred at once",
        b"".join(_get(b"/%d" % number) for number in range(100)),
        (200,) * 100,
        None,
        tuple(Arrives(f"/{number}") for number in range(100)),
        rule=_RULE,
    ),
    Case(
        "one with a body in the middle",
        _get(b"/1") + post(b"Content-Length: 4", body=b"abcd") + _get(b"/3"),
        (200, 200, 200),
        None,
        (Arrives("/1"), Arrives("/c", "POST", body=b"abcd"), Arrives("/3")),
        rule=_RULE,
    ),
    Case(
        "one with chunks in the middle",
        _get(b"/1")
        + post(b"Transfer-Encoding: chunked", body=b"4\r\nabcd\r\n0\r\n\r\n")
        + _get(b"/3"),
        (200, 200, 200),
        None,
        (Arrives("/1"), Arrives("/c", "POST", body=b"abcd"), Arrives("/3")),
        rule=_RULE,
    ),
    Case(
        "an empty line between",
        _get(b"/1") + b"\r\n" + _get(b"/2"),
        (200, 200),
        None,
        (Arrives("/1"), Arrives("/2")),
        rule="RFC 9112 section 2.2",
    ),
    Case(
        "a request in a body is no request",
        post(b"Content-Length: %d" % len(_get(b"/no").replace(b"{U}", b"")), body=b"")
        + _get(b"/no").replace(b"{U}", b""),
        (200,),
        None,
        (Arrives("/c", "POST", body=_get(b"/no").replace(b"{U}", b"")),),
        rule=_RULE,
    ),
    Case(
        "a bad second one",
        _get(b"/1") + _BAD + _get(b"/3"),
        (200, 400),
        "bad_request",
        (Arrives("/1"),),
        kept=False,
        rule=_RULE,
    ),
    Case(
        "a bad first one",
        _BAD + _get(b"/2"),
        (400,),
        "bad_request",
        kept=False,
        rule=_RULE,
    ),
    Case(
        "one behind Connection: close",
        _get(b"/1", b"Connection: close") + _get(b"/2"),
        (200,),
        None,
        (Arrives("/1"),),
        kept=False,
        rule=_CLOSE,
    ),
    Case(
        "one behind HTTP/1.0",
        get(line=b"GET http://{U}/1 HTTP/1.0") + _get(b"/2"),
        (200,),
        None,
        (Arrives("/1"),),
        kept=False,
        rule=_CLOSE,
    ),
    Case(
        "the client's direction closed behind it",
        _get(b"/1"),
        (200,),
        None,
        (Arrives("/1"),),
        kept=False,
        half_close=True,
        rule="RFC 9112 section 9.5",
    ),
    Case(
        "half a head, then an end",
        b"GET http://{U}/1 HTTP/1.1\r\nHost: {U}\r\nX: ",
        (),
        kept=False,
        half_close=True,
        rule="RFC 9112 section 8",
    ),
    Case(
        "one and a half, then an end",
        _get(b"/1") + b"GET http://{U}/2 HT",
        (200,),
        None,
        (Arrives("/1"),),
        kept=False,
        half_close=True,
        rule="RFC 9112 section 8",
    ),
    Case("nothing, then an end", b"", (), kept=False, half_close=True),
    Case(
        "a question to ourselves between",
        _get(b"/1") + b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" + _get(b"/3"),
        (200, 400),
        "bad_request",
        (Arrives("/1"),),
        kept=False,
        rule=_RULE,
    ),
)
