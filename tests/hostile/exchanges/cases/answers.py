"""What an upstream must not do, and what the client gets then (RFC 9112, RFC 9110 section 15)."""

from collections.abc import Mapping

from tests.hostile.exchanges.case import Arrives, Case, get

_LINE = "RFC 9112 section 4"
_FIELD = "RFC 9112 section 5"
_FRAMING = "RFC 9112 section 6.3"
_CHUNKS = "RFC 9112 section 7.1"
_INTERIM = "RFC 9110 section 15.2"
_NONE: Mapping[str, str | None] = {}
_OK = b"HTTP/1.1 200 OK\r\n"
_SMUGGLED = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled"


def _fails(
    name: str,
    reply: bytes,
    rule: str,
    *,
    ends: bool = True,
    method: bytes = b"GET",
    code: str = "upstream_malformed",
) -> Case:
    """Make a case in which the client is told that the upstream failed."""
    return Case(
        name,
        get(line=method + b" http://{U}/c HTTP/1.1"),
        (502,),
        code,
        (Arrives(method=method.decode("ascii")),),
        rule=rule,
        reply=reply,
        reply_ends=ends,
    )


def _comes(
    name: str,
    reply: bytes,
    rule: str,
    body: bytes = b"",
    *,
    status: int = 200,
    ends: bool = False,
    method: bytes = b"GET",
    headers: Mapping[str, str | None] = _NONE,
) -> Case:
    """Make a case in which the client gets a whole answer."""
    return Case(
        name,
        get(line=method + b" http://{U}/c HTTP/1.1"),
        (status,),
        None,
        (Arrives(method=method.decode("ascii")),),
        rule=rule,
        reply=reply,
        reply_ends=ends,
        got=body,
        got_headers=headers,
    )


def _breaks(name: str, reply: bytes, rule: str) -> Case:
    """Make a case in which the client's answer breaks off visibly, as the upstream's did."""
    return Case(
        name,
        get(),
        (200,),
        None,
        (Arrives(),),
        kept=False,
        cut=True,
        rule=rule,
        reply=reply,
        reply_ends=True,
    )


ANSWERS = (
    _comes("as it should be", _OK + b"Content-Length: 4\r\n\r\nabcd", _LINE, b"abcd"),
    _comes("no reason", b"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", _LINE),
    _comes("no blank for a reason", b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", _LINE),
    _comes(
        "a status of its own", b"HTTP/1.1 599 Odd\r\nContent-Length: 0\r\n\r\n", _LINE, status=599
    ),
    _comes("HTTP/1.0 to its end", b"HTTP/1.0 200 OK\r\n\r\nabcd", _FRAMING, b"abcd", ends=True),
    _comes("no length, to its end", _OK + b"\r\nabcd", _FRAMING, b"abcd", ends=True),
    _comes(
        "chunks",
        _OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
        _CHUNKS,
        b"abcd",
    ),
    _comes(
        "chunks with a trailer",
        _OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\nX-A: b\r\n\r\n",
        _CHUNKS,
        b"abcd",
        headers={"x-a": None},
    ),
    _comes(
        "repeats",
        _OK + b"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n",
        _FIELD,
        headers={"set-cookie": "a=1|b=2"},
    ),
    _comes(
        "fields of the hop",
        _OK + b"Connection: X-A\r\nX-A: b\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n",
        "RFC 9110 section 7.6.1",
        headers={"x-a": None, "keep-alive": None},
    ),
    _comes(
        "an upgrade offered",
        _OK + b"Upgrade: h2c\r\nContent-Length: 0\r\n\r\n",
        "RFC 9110 section 7.8",
        headers={"upgrade": None},
    ),
    _comes(
        "gzip stays gzip",
        _OK + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
        "RFC 9110 section 8.4",
        b"abcd",
        headers={"content-encoding": "gzip"},
    ),
    _comes(
        "early hints",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + _OK + b"Content-Length: 4\r\n\r\nabcd",
        _INTERIM,
        b"abcd",
    ),
    _comes(
        "204 with a body",
        b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nabcd",
        _FRAMING,
        status=204,
    ),
    _comes(
        "204 with another answer behind it",
        b"HTTP/1.1 204 No Content\r\n\r\n" + _SMUGGLED,
        _FRAMING,
        status=204,
    ),
    _comes(
        "304 with a length",
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n",
        _FRAMING,
        status=304,
    ),
    _comes(
        "304 with a body",
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nabcd",
        _FRAMING,
        status=304,
    ),
    _comes(
        "HEAD with a length",
        _OK + b"Content-Length: 4\r\n\r\n",
        _FRAMING,
        method=b"HEAD",
        headers={"content-length": "4"},
    ),
    _comes(
        "HEAD with chunks", _OK + b"Transfer-Encoding: chunked\r\n\r\n", _FRAMING, method=b"HEAD"
    ),
    _comes("HEAD with a body", _OK + b"Content-Length: 4\r\n\r\nabcd", _FRAMING, method=b"HEAD"),
    _comes(
        "another answer behind it",
        _OK + b"Content-Length: 4\r\n\r\nabcd" + _SMUGGLED,
        "RFC 9112 section 9.3",
        b"abcd",
    ),
    _comes(
        "another answer behind the last chunk",
        _OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + _SMUGGLED,
        "RFC 9112 section 9.3",
    ),
    Case(
        "nothing",
        get(),
        (502,),
        "upstream_closed",
        (Arrives(),),
        again=True,
        rule="RFC 9112 section 9.3.1",
        reply=b"",
        reply_ends=True,
    ),
    _fails("nothing to a POST", b"", _LINE, method=b"POST", code="upstream_closed"),
    _fails("half a status line", b"HTTP/1.1 20", _LINE, code="upstream_closed"),
    _fails("half a head", _OK + b"X: y\r\n", _LINE, code="upstream_closed"),
    _fails("half a field", _OK + b"X: ", _LINE, code="upstream_closed"),
    _fails("a status in letters", b"HTTP/1.1 abc OK\r\n\r\n", _LINE),
    _fails("a status of two digits", b"HTTP/1.1 20 OK\r\n\r\n", _LINE),
    _fails("a status of four digits", b"HTTP/1.1 2000 OK\r\n\r\n", _LINE),
    _fails("a status below 100", b"HTTP/1.1 099 OK\r\n\r\n", _LINE),
    _fails("a status with a sign", b"HTTP/1.1 +20 OK\r\n\r\n", _LINE),
    _fails("a body alone", b"abcd\r\n\r\n", _LINE),
    _fails("another protocol", b"SSH-2.0-OpenSSH_9.2\r\n", _LINE, code="upstream_closed"),
    _fails("HTTP/2", b"HTTP/2 200\r\n\r\n", _LINE),
    _fails("an invalid version", b"HTTP/x.y 200 OK\r\n\r\n", _LINE),
    _fails("random bytes", bytes(range(128, 256)) * 20 + b"\r\n\r\n", _LINE),
    _fails("a field without a colon", _OK + b"nothing\r\nContent-Length: 0\r\n\r\n", _FIELD),
    _fails("a field without a name", _OK + b": y\r\nContent-Length: 0\r\n\r\n", _FIELD),
    _fails("a name with a blank", _OK + b"X Y: z\r\nContent-Length: 0\r\n\r\n", _FIELD),
    _fails("a NUL in a value", _OK + b"X: a\x00b\r\nContent-Length: 0\r\n\r\n", _FIELD),
    _comes(
        "length and chunks",
        _OK + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
        _FRAMING,
        b"abcd",
        headers={"content-length": None},
    ),
    _fails("two lengths", _OK + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd", _FRAMING),
    _fails("a list of lengths", _OK + b"Content-Length: 4, 5\r\n\r\nabcd", _FRAMING),
    _fails("a negative length", _OK + b"Content-Length: -4\r\n\r\nabcd", _FRAMING),
    _fails("a length with a plus", _OK + b"Content-Length: +4\r\n\r\nabcd", _FRAMING),
    _fails("a length in words", _OK + b"Content-Length: four\r\n\r\nabcd", _FRAMING),
    _fails("an unknown transfer coding", _OK + b"Transfer-Encoding: gzip\r\n\r\nabcd", _FRAMING),
    _fails("chunks twice", _OK + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", _FRAMING),
    _fails(
        "101 unasked",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nabcd",
        "RFC 9110 section 7.8",
        ends=False,
    ),
    _fails("interim answers without an end", b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000, _INTERIM),
    _fails("a huge field", _OK + b"X: " + b"y" * 1_000_000 + b"\r\n\r\n", _FIELD, ends=False),
    _fails("a huge status line", b"HTTP/1.1 200 " + b"y" * 1_000_000, _LINE, ends=False),
    _fails("very many fields", _OK + b"X: y\r\n" * 100_000 + b"\r\n", _FIELD, ends=False),
    _breaks("a body shorter than its length", _OK + b"Content-Length: 10\r\n\r\nabcd", _FRAMING),
    _breaks(
        "chunks that break off", _OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n", _CHUNKS
    ),
    _breaks(
        "a chunk that breaks off", _OK + b"Transfer-Encoding: chunked\r\n\r\nA\r\nabcd", _CHUNKS
    ),
    _breaks(
        "a bad chunk size",
        _OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\nzz\r\nabcd\r\n0\r\n\r\n",
        _CHUNKS,
    ),
    _breaks(
        "a negative chunk size",
        _OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n-4\r\nabcd\r\n0\r\n\r\n",
        _CHUNKS,
    ),
    _breaks(
        "nothing behind a chunk",
        _OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcdefgh\r\n0\r\n\r\n",
        _CHUNKS,
    ),
)
