"""``Host`` (RFC 9112 section 3.2, RFC 9110 section 7.2)."""

from tests.hostile.exchanges.case import Case, get, passed, refused

_RULE = "RFC 9112 section 3.2"


def _host(*lines: bytes, version: bytes = b"1.1") -> bytes:
    return get(*lines, line=b"GET http://{U}/c HTTP/" + version, host=False)


def _replaced(name: str, *lines: bytes, version: bytes = b"1.1") -> Case:
    """Make a case in which the target counts, and the upstream sees that as its ``Host``."""
    return passed(
        name,
        _host(*lines, version=version),
        "RFC 9112 section 3.2.2",
        headers={"host": "{U}"},
        kept=version == b"1.1",
    )


HOSTS = (
    _replaced("another host than the target's", b"Host: other.test"),
    _replaced("an empty host", b"Host:"),
    _replaced("another port than the target's", b"Host: 127.0.0.1:1"),
    _replaced("another host, in HTTP/1.0", b"Host: other.test", version=b"1.0"),
    _replaced("no host, in HTTP/1.0", version=b"1.0"),
    _replaced("a host in upper case", b"HOST: {U}"),
    refused("no host", _host(), _RULE),
    refused("two hosts", _host(b"Host: {U}", b"Host: other.test"), _RULE),
    refused("the same host twice", _host(b"Host: {U}", b"Host: {U}"), _RULE),
    refused("two hosts, in HTTP/1.0", _host(b"Host: {U}", b"Host: a.test", version=b"1.0"), _RULE),
    refused("two hosts in one line", _host(b"Host: {U}, other.test"), _RULE),
    refused("two words", _host(b"Host: {U} other.test"), _RULE),
    refused("a path", _host(b"Host: {U}/c"), _RULE),
    refused("a user", _host(b"Host: user@{U}"), _RULE),
    refused("a scheme", _host(b"Host: http://{U}"), _RULE),
    refused("a port beyond 65535", _host(b"Host: 127.0.0.1:65536"), _RULE),
    refused("a port in letters", _host(b"Host: 127.0.0.1:http"), _RULE),
    refused("an open bracket", _host(b"Host: [::1"), _RULE),
    refused("a blank before the colon", _host(b"Host : {U}"), "RFC 9112 section 5.1"),
    refused("a folded host", _host(b"Host: {U}", b" other.test"), "RFC 9112 section 5.2"),
    refused("a host in the first line's fold", _host(b" Host: {U}", b"Host: {U}"), _RULE),
    refused("a NUL", _host(b"Host: 127.0.0.1\x00.test"), "RFC 9110 section 5.5"),
)
