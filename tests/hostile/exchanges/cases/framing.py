"""Where a request ends: ``Content-Length`` and ``Transfer-Encoding`` (RFC 9112 section 6)."""

from tests.hostile.exchanges.case import Case, get, passed, post, refused

_LENGTH = "RFC 9110 section 8.6"
_CODING = "RFC 9112 section 6.1"
_BOTH = "RFC 9112 section 6.3"
_CHUNKED = b"4\r\nabcd\r\n0\r\n\r\n"
_SMUGGLED = b"GET http://{U}/smuggled HTTP/1.1\r\nHost: {U}\r\n\r\n"


def _length(name: str, *values: bytes) -> Case:
    lines = [b"Content-Length:" + value for value in values]
    return refused(name, post(*lines, body=b"abcd" + _SMUGGLED), _LENGTH)


def _coding(name: str, *lines: bytes) -> Case:
    return refused(name, post(*lines, body=_CHUNKED + _SMUGGLED), _CODING)


def _unknown(name: str, codings: bytes) -> Case:
    sent = post(b"Transfer-Encoding: " + codings, body=_CHUNKED + _SMUGGLED)
    return refused(name, sent, _CODING, status=501, code="not_implemented")


def _chunked(name: str, value: bytes) -> Case:
    sent = post(b"Transfer-Encoding:" + value, body=_CHUNKED)
    return passed(name, sent, _CODING, method="POST", body=b"abcd")


def _sized(name: str, value: bytes) -> Case:
    sent = post(b"Content-Length:" + value, body=b"abcd")
    headers = {"content-length": "4"}
    return passed(name, sent, _LENGTH, method="POST", body=b"abcd", headers=headers)


FRAMING = (
    _sized("a length", b" 4"),
    _sized("a length without a blank", b"4"),
    _sized("a length between blanks", b" \t4 \t"),
    passed("no length is no body", post(), _BOTH, method="POST"),
    passed("a length of 0", post(b"Content-Length: 0"), _LENGTH, method="POST"),
    passed("a GET with a body", get(b"Content-Length: 4") + b"abcd", _BOTH, body=b"abcd"),
    passed("a GET with chunks", get(b"Transfer-Encoding: chunked") + _CHUNKED, _BOTH, body=b"abcd"),
    _chunked("chunks", b" chunked"),
    _chunked("chunks in other letters", b" cHuNkEd"),
    _chunked("chunks behind a tab", b"\tchunked"),
    _chunked("chunks before a blank", b" chunked "),
    passed(
        "a name that only looks like it",
        post(b"Transfer_Encoding: chunked", b"Content-Length: 4", body=b"abcd"),
        "RFC 9110 section 5.1",
        method="POST",
        body=b"abcd",
    ),
    _length("two lengths that differ", b" 4", b" 5"),
    _length("two lengths, one of them 0", b" 0", b" 4"),
    _length("the same length twice", b" 4", b" 4"),
    _length("a list of lengths", b" 4, 5"),
    _length("a list of the same length", b" 4, 4"),
    _length("a length with a plus", b" +4"),
    _length("a negative length", b" -4"),
    _length("a length of minus 0", b" -0"),
    _length("a length with a point", b" 4.0"),
    _length("a hexadecimal length", b" 0x4"),
    _length("a length with an underscore", b" 1_0"),
    _length("a length in words", b" four"),
    _length("an empty length", b" "),
    _length("two numbers", b" 4 4"),
    _length("a length with a parameter", b" 4;a=b"),
    _length("a length in quotes", b' "4"'),
    _length("a length in digits beyond ASCII", b" \xd9\xa4"),
    _length("a superscript", b" \xb2"),
    _length("a length with a NUL", b" 4\x00"),
    _length("a length of thirty digits", b" " + b"9" * 30),
    _length("a length of five thousand digits", b" " + b"9" * 5000),
    _length("a blank before the colon of a second length", b" 4\r\nContent-Length : 5"),
    _length("a folded length", b"\r\n 4"),
    _coding("length, then chunks", b"Content-Length: 4", b"Transfer-Encoding: chunked"),
    _coding("chunks, then length", b"Transfer-Encoding: chunked", b"Content-Length: 4"),
    _coding("chunks and a length of 0", b"Content-Length: 0", b"Transfer-Encoding: chunked"),
    _coding("length and an unknown coding", b"Content-Length: 4", b"Transfer-Encoding: x"),
    _coding("chunks twice in one line", b"Transfer-Encoding: chunked, chunked"),
    _coding("chunks twice in two lines", *[b"Transfer-Encoding: chunked"] * 2),
    _coding("an unknown coding", b"Transfer-Encoding: xchunked"),
    _coding("a coding that ends in chunked", b"Transfer-Encoding: x-chunked"),
    _coding("a coding that begins with chunked", b"Transfer-Encoding: chunkedx"),
    _coding("identity", b"Transfer-Encoding: identity"),
    _unknown("identity, then chunks", b"identity, chunked"),
    _coding("chunks, then identity", b"Transfer-Encoding: chunked, identity"),
    _coding("gzip", b"Transfer-Encoding: gzip"),
    _unknown("gzip, then chunks", b"gzip, chunked"),
    _coding("chunks, then gzip", b"Transfer-Encoding: chunked, gzip"),
    _coding(
        "chunks, then gzip, in two lines", b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip"
    ),
    _coding("a parameter", b"Transfer-Encoding: chunked;q=1"),
    _coding("quotes", b'Transfer-Encoding: "chunked"'),
    _coding("an empty coding", b"Transfer-Encoding:"),
    _coding("a comma alone", b"Transfer-Encoding: ,"),
    _coding("a comma behind", b"Transfer-Encoding: chunked,"),
    _coding("a blank within", b"Transfer-Encoding: chun ked"),
    _coding("a vertical tab before", b"Transfer-Encoding: \x0bchunked"),
    _coding("a form feed behind", b"Transfer-Encoding: chunked\x0c"),
    _coding("a NUL behind", b"Transfer-Encoding: chunked\x00"),
    _coding("a byte beyond ASCII", b"Transfer-Encoding: chunked\xa0"),
    _coding("a letter that only looks like k", b"Transfer-Encoding: chun\xe2\x84\xaaed"),
    _coding("a blank before the colon", b"Transfer-Encoding : chunked"),
    _coding("a tab before the colon", b"Transfer-Encoding\t: chunked"),
    _coding("a blank before the name", b"X: y", b" Transfer-Encoding: chunked"),
    _coding("a folded coding", b"Transfer-Encoding:\r\n chunked"),
    _coding("a coding behind a CR", b"X: y\rTransfer-Encoding: chunked"),
    _coding("a coding behind a LF", b"X: y\nTransfer-Encoding: chunked"),
    refused(
        "chunks in HTTP/1.0",
        get(b"Transfer-Encoding: chunked", line=b"POST http://{U}/c HTTP/1.0") + _CHUNKED,
        _CODING,
    ),
    Case(
        "a body shorter than its length",
        post(b"Content-Length: 10", body=b"abcd"),
        (),
        kept=False,
        half_close=True,
        rule="RFC 9112 section 8",
    ),
    Case(
        "a body longer than its length is the next request",
        post(b"Content-Length: 4", body=b"abcdJUNK\r\n\r\n"),
        (200, 400),
        "bad_request",
        arrives=(passed("", b"", method="POST", body=b"abcd").arrives[0],),
        kept=False,
        rule=_BOTH,
    ),
)
