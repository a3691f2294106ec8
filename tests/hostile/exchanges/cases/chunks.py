"""Chunked bodies (RFC 9112 section 7.1)."""

from tests.hostile.exchanges.case import Case, passed, post, refused

_RULE = "RFC 9112 section 7.1"
_EXTENSION = "RFC 9112 section 7.1.1"
_TRAILER = "RFC 9112 section 7.1.2"
_TE = b"Transfer-Encoding: chunked"
_END = b"0\r\n\r\n"
_SMUGGLED = b"GET http://{U}/smuggled HTTP/1.1\r\nHost: {U}\r\n\r\n"


def _good(name: str, chunks: bytes, rule: str = _RULE, body: bytes = b"abcd") -> Case:
    return passed(name, post(_TE, body=chunks), rule, method="POST", body=body)


def _bad(name: str, chunks: bytes, rule: str = _RULE) -> Case:
    return refused(name, post(_TE, body=chunks + _SMUGGLED), rule)


CHUNKS = (
    _good("two chunks", b"2\r\nab\r\n2\r\ncd\r\n" + _END),
    _good("no chunk", _END, body=b""),
    _good("a size in upper case", b"A\r\n0123456789\r\n" + _END, body=b"0123456789"),
    _good("a size in lower case", b"a\r\n0123456789\r\n" + _END, body=b"0123456789"),
    _good("zeros before the size", b"0004\r\nabcd\r\n000\r\n\r\n"),
    _good("an extension", b"4;a\r\nabcd\r\n0;b\r\n\r\n", _EXTENSION),
    _good("an extension with a value", b"4;a=b;c=d\r\nabcd\r\n" + _END, _EXTENSION),
    _good("an extension with a quoted value", b'4;a="b;c d"\r\nabcd\r\n' + _END, _EXTENSION),
    _good("a trailer", b"4\r\nabcd\r\n0\r\nX-A: b\r\n\r\n", _TRAILER),
    _good("a length in the trailer", b"4\r\nabcd\r\n0\r\nContent-Length: 9\r\n\r\n", _TRAILER),
    _good("data that looks like an end", b"7\r\n0\r\n\r\n0\r\r\n" + _END, body=b"0\r\n\r\n0\r"),
    _bad("no size", b"\r\nabcd\r\n" + _END),
    _bad("a size with a plus", b"+4\r\nabcd\r\n" + _END),
    _bad("a negative size", b"-4\r\nabcd\r\n" + _END),
    _bad("a size of 0x4", b"0x4\r\nabcd\r\n" + _END),
    _bad("a size with an underscore", b"0_4\r\nabcd\r\n" + _END),
    _bad("a size that is no number", b"g\r\nabcd\r\n" + _END),
    _bad("a size with a point", b"4.0\r\nabcd\r\n" + _END),
    _bad("a blank before the size", b" 4\r\nabcd\r\n" + _END),
    _bad("a blank behind the size", b"4 \r\nabcd\r\n" + _END),
    _bad("a tab behind the size", b"4\t\r\nabcd\r\n" + _END),
    _bad("a size in digits beyond ASCII", b"\xd9\xa4\r\nabcd\r\n" + _END),
    _bad("a NUL behind the size", b"4\x00\r\nabcd\r\n" + _END),
    _bad("a size of 17 digits", b"10000000000000004\r\nabcd\r\n" + _END),
    _bad("a size of a thousand digits", b"F" * 1000 + b"\r\nabcd\r\n" + _END),
    _bad("a negative size of 64 bits", b"FFFFFFFFFFFFFFFFC\r\nabcd\r\n" + _END),
    _bad("a size line that never ends", b"4;" + b"a" * 70_000),
    _bad("a LF alone behind the size", b"4\nabcd\r\n" + _END),
    _bad("a CR alone behind the size", b"4\rabcd\r\n" + _END),
    _bad("a LF alone behind the data", b"4\r\nabcd\n" + _END),
    _bad("a CR alone behind the data", b"4\r\nabcd\r" + _END),
    _bad("a LF in an extension", b"4;a\nb\r\nabcd\r\n" + _END, _EXTENSION),
    _bad("a CR in an extension", b"4;a\rb\r\nabcd\r\n" + _END, _EXTENSION),
    _bad("a NUL in an extension", b"4;a\x00\r\nabcd\r\n" + _END, _EXTENSION),
    _bad("nothing behind the data", b"4\r\nabcd" + _END),
    _bad("more data than said", b"3\r\nabcd\r\n" + _END),
    _bad("less data than said", b"5\r\nabcd\r\n" + _END),
    _bad("a LF alone at the end", b"4\r\nabcd\r\n0\r\n\n", _TRAILER),
    _bad("a LF alone behind the last size", b"4\r\nabcd\r\n0\n\r\n", _TRAILER),
    _bad("a trailer without a colon", b"4\r\nabcd\r\n0\r\nnothing\r\n\r\n", _TRAILER),
    _bad("a trailer with a LF", b"4\r\nabcd\r\n0\r\nX: a\nY: b\r\n\r\n", _TRAILER),
    _bad("a trailer above the limit", b"4\r\nabcd\r\n0\r\nX: " + b"a" * 70_000, _TRAILER),
    Case(
        "an end that never comes",
        post(_TE, body=b"4\r\nabcd\r\n"),
        (),
        kept=False,
        half_close=True,
        rule="RFC 9112 section 8",
    ),
    Case(
        "a trailer that never ends",
        post(_TE, body=b"4\r\nabcd\r\n0\r\nX: y\r\n"),
        (),
        kept=False,
        half_close=True,
        rule="RFC 9112 section 8",
    ),
)
