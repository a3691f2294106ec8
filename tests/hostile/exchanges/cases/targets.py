"""Request targets (RFC 9112 section 3.2, RFC 3986)."""

from tests.hostile.exchanges.case import Case, get, passed, refused

_FORM = "RFC 9112 section 3.2"
_URI = "RFC 3986 section 3"
_SCHEME = "RFC 9110 section 4.2"


def _target(target: bytes, method: bytes = b"GET") -> bytes:
    return get(line=method + b" " + target + b" HTTP/1.1")


def _refused(name: str, target: bytes, rule: str = _URI) -> Case:
    return refused(name, _target(target), rule)


def _unchanged(name: str, path: bytes) -> Case:
    """Make a case whose path and query must arrive byte for byte."""
    return passed(name, _target(b"http://{U}" + path), _URI, target=path.decode("ascii"))


def _ours(name: str, target: bytes, status: int, code: str, method: bytes = b"GET") -> Case:
    return Case(
        name, _target(target, method), (status,), code, kept=False, half_close=True, rule=_FORM
    )


TARGETS = (
    passed("no path", _target(b"http://{U}"), _FORM, target="/"),
    passed("no path, but a query", _target(b"http://{U}?q=1"), _FORM, target="/?q=1"),
    passed("ws, by clients that say so", _target(b"ws://{U}/c"), "RFC 6455 section 3"),
    passed("a scheme in upper case", _target(b"HTTP://{U}/c"), _SCHEME),
    passed(
        "OPTIONS of a whole server",
        _target(b"http://{U}", b"OPTIONS"),
        "RFC 9112 section 3.2.4",
        target="*",
        method="OPTIONS",
    ),
    passed(
        "OPTIONS of a path",
        _target(b"http://{U}/", b"OPTIONS"),
        "RFC 9112 section 3.2.4",
        target="/",
        method="OPTIONS",
    ),
    _unchanged("dots in the path", b"/a/../../c/./d"),
    _unchanged("two slashes", b"//c//d"),
    _unchanged("percent escapes of dots", b"/%2e%2e/%2E/c"),
    _unchanged("percent escapes of slash and NUL", b"/a%2fb%00c%0d%0aX:%20y"),
    _unchanged("a bad percent escape", b"/c%zz?q=%"),
    _unchanged("characters that belong escaped", b"/c|d^e`f{g}h?q=<'\">"),
    _unchanged("a backslash in the path", b"/c\\..\\d"),
    _unchanged("a URL in the query", b"/c?u=http://other.test/x?y=z"),
    _unchanged("a URL as the path", b"/http://other.test/x"),
    _unchanged("an at sign and a colon in the path", b"/a@b:c/d;e=f,g"),
    _unchanged("an empty query", b"/c?"),
    _unchanged("a long path", b"/" + b"a" * 20_000),
    _refused("a fragment", b"http://{U}/c#frag"),
    _refused("a fragment right behind the host", b"http://{U}#/c"),
    _refused("a user and a password", b"http://user:word@{U}/c", "RFC 9110 section 4.2.4"),
    _refused("a user", b"http://user@{U}/c", "RFC 9110 section 4.2.4"),
    _refused("an empty user", b"http://@{U}/c", "RFC 9110 section 4.2.4"),
    _refused("two at signs", b"http://a@b@{U}/c"),
    _refused("a host hidden behind a backslash", b"http://{U}\\@other.test/c"),
    _refused("no host", b"http:///c"),
    _refused("no host, but a port", b"http://:80/c"),
    _refused("one slash", b"http:/{U}/c"),
    _refused("no slash", b"http:{U}/c"),
    _refused("a port beyond 65535", b"http://127.0.0.1:65536/c"),
    _refused("a huge port", b"http://127.0.0.1:4294967376/c"),
    _refused("port 0", b"http://127.0.0.1:0/c"),
    _refused("a negative port", b"http://127.0.0.1:-80/c"),
    _refused("a port with a sign", b"http://127.0.0.1:+80/c"),
    _refused("a port in letters", b"http://127.0.0.1:http/c"),
    _refused("two ports", b"http://127.0.0.1:80:80/c"),
    _refused("an IPv6 address without brackets", b"http://::1/c"),
    _refused("a bracket that stays open", b"http://[::1/c"),
    _refused("a bracket that was never opened", b"http://::1]/c"),
    _refused("empty brackets", b"http://[]/c"),
    _refused("something behind the brackets", b"http://[::1]x:80/c"),
    _refused("IPv4 in brackets", b"http://[127.0.0.1]/c"),
    _refused("a zone", b"http://[fe80::1%25lo]/c", "RFC 6874"),
    _refused("a name in brackets", b"http://[localhost]/c"),
    _refused("a percent escape in the host", b"http://127.0.0.%31/c"),
    _refused("a character that no host has: <", b"http://a<b/c"),
    _refused("a character that no host has: quote", b'http://a"b/c'),
    _refused("a comma of hosts", b"http://{U},{U}/c"),
    _refused("a byte beyond ASCII in the host", b"http://\xc3\xa9.test/c"),
    _refused("a byte beyond ASCII in the path", b"http://{U}/\xc3\xa9"),
    _refused("a NUL in the path", b"http://{U}/\x00"),
    _refused("a control character in the path", b"http://{U}/\x01"),
    _refused("DEL in the path", b"http://{U}/\x7f"),
    _refused("a tab in the path", b"http://{U}/a\tb"),
    _refused("ftp", b"ftp://{U}/c", _SCHEME),
    _refused("file", b"file:///etc/passwd", _SCHEME),
    _refused("javascript", b"javascript:alert(1)", _SCHEME),
    _ours("an invalid scheme", b"1http://{U}/c", 400, "bad_request"),
    _ours("a host alone", b"{U}", 400, "bad_request"),
    _ours("an asterisk with GET", b"*", 404, "not_found"),
    _refused("a path without its slash", b"c", _FORM),
    _ours("a path is a question to ourselves", b"/nothing", 404, "not_found"),
    _ours("so is a path of two slashes", b"//{U}/c", 404, "not_found"),
    _ours("so is an asterisk", b"*", 404, "not_found", b"OPTIONS"),
    _ours("so is our own address", b"http://{OWN}/nothing", 404, "not_found"),
    refused(
        "a target above the limit",
        _target(b"http://{U}/" + b"a" * 70_000),
        "RFC 9110 section 15.5.15",
        status=431,
        code="headers_too_large",
    ),
)
