"""Header fields (RFC 9112 section 5, RFC 9110 section 5)."""

from tests.hostile.exchanges.case import Case, get, passed, refused

_NAME = "RFC 9110 section 5.1"
_VALUE = "RFC 9110 section 5.5"
_COLON = "RFC 9112 section 5.1"
_FOLD = "RFC 9112 section 5.2"
_LINE = "RFC 9112 section 2.2"


def _too_large(name: str, sent: bytes) -> Case:
    return refused(name, sent, status=431, code="headers_too_large")


FIELDS = (
    passed("an empty value", get(b"X-A:"), _VALUE, headers={"x-a": ""}),
    passed("no blank behind the colon", get(b"X-A:b"), _COLON, headers={"x-a": "b"}),
    passed("blanks around a value", get(b"X-A: \t b \t "), _VALUE, headers={"x-a": "b"}),
    passed("a tab within a value", get(b"X-A: b\tc"), _VALUE, headers={"x-a": "b\tc"}),
    passed("bytes beyond ASCII in a value", get(b"X-A: \xe9\xff"), _VALUE, headers={"x-a": "éÿ"}),
    passed("colons in a value", get(b"X-A: b: c:"), _COLON, headers={"x-a": "b: c:"}),
    passed("repeats stay apart", get(b"X-A: 1", b"X-B: 2", b"X-A: 3"), headers={"x-a": "1|3"}),
    passed("an underscore in a name", get(b"X_A: b"), _NAME, headers={"x_a": "b"}),
    passed("a long value", get(b"X-A: " + b"b" * 30_000), headers={"x-a": "b" * 30_000}),
    refused("no colon", get(b"X-A b"), _COLON),
    refused("no name", get(b": b"), _NAME),
    refused("a colon alone", get(b":"), _NAME),
    refused("a blank before the colon", get(b"X-A : b"), _COLON),
    refused("a tab before the colon", get(b"X-A\t: b"), _COLON),
    refused("a blank within a name", get(b"X A: b"), _NAME),
    refused("a name with a bracket", get(b"X(A: b"), _NAME),
    refused("a name with a slash", get(b"X/A: b"), _NAME),
    refused("a name in quotes", get(b'"X-A": b'), _NAME),
    refused("a name with a NUL", get(b"X\x00A: b"), _NAME),
    refused("a name with a control character", get(b"X\x01A: b"), _NAME),
    refused("a name with a byte beyond ASCII", get(b"X\xe9A: b"), _NAME),
    refused("a NUL in a value", get(b"X-A: b\x00c"), _VALUE),
    refused("a CR in a value", get(b"X-A: b\rc"), _VALUE),
    refused("a CR at the end of a value", get(b"X-A: b\r"), _LINE),
    refused("a CR before a name", get(b"\rX-A: b"), _NAME),
    refused("a LF in a value", get(b"X-A: b\nX-B: c"), _LINE),
    refused("a LF alone behind a value", get(b"X-A: b\nX-B: c"), _LINE),
    refused("an end of LF alone", get()[:-2] + b"\n", _LINE, half_close=True),
    refused("an end of LF CR", get()[:-2] + b"\n\r\n", _LINE),
    refused("a control character in a value", get(b"X-A: b\x01c"), _VALUE),
    refused("a vertical tab in a value", get(b"X-A: b\x0bc"), _VALUE),
    refused("a fold with a space", get(b"X-A: b", b" c"), _FOLD),
    refused("a fold with a tab", get(b"X-A: b", b"\tc"), _FOLD),
    refused("an empty fold", get(b"X-A: b", b" "), _FOLD),
    refused("a field folded away", get(b"X-A: b", b" Content-Length: 5"), _FOLD),
    refused("a blank in front of the first field", get(b" X-A: b", host=False), _LINE),
    _too_large("one field above the limit", get(b"X-A: " + b"b" * 70_000)),
    _too_large("all fields above the limit", get(*[b"X-A: " + b"b" * 1000] * 70)),
    _too_large("too many fields", get(*[b"X: y"] * 600)),
    _too_large("one line without an end", b"GET http://{U}/c HTTP/1.1\r\nX: " + b"b" * 70_000),
)
