"""What an application demands of a server's TLS, which the proxy verifies in its place.

In a tunnel that the proxy reads, the library sees a certificate of the proxy. What the
application's TLS context has been given is noted, so that the proxy can verify the server as the
library would: without verification, by other roots than the usual ones, with the context's own
versions of TLS and ciphers. A client certificate, a pinned fingerprint and lists of revoked
certificates are only right if the TLS reaches the server, so that the proxy is asked to leave it
alone.
"""

from __future__ import annotations

import hashlib
import os
import ssl
from collections import OrderedDict
from functools import lru_cache
from weakref import WeakKeyDictionary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

CLIENT_CERTIFICATE = "its client has a client certificate"
PINNED = "its client pins a fingerprint"
REVOCATION = "its client checks for revoked certificates"
HTTP_2_ONLY = "its client speaks HTTP/2 only"
SERVER_HTTP_2_ONLY = "its server speaks HTTP/2 only"
"""Why the TLS of a tunnel is to reach the server; the last one, if the proxy finds that it does."""

_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE")
_MOST_SETS = 20
_VERSIONS = (
    ("1.0", 0x0301, ssl.OP_NO_TLSv1),
    ("1.1", 0x0302, ssl.OP_NO_TLSv1_1),
    ("1.2", 0x0303, ssl.OP_NO_TLSv1_2),
    ("1.3", 0x0304, ssl.OP_NO_TLSv1_3),
)
"""The versions of TLS: number on the wire, and the option of a context that leaves it out."""

_LEAST, _NEWEST = "1.2", "1.3"
"""The versions between which the proxy reaches a server for which nothing else is demanded."""

_NO_VERSIONS = _NEWEST, _LEAST
"""The least and the newest version of a context that has none: its handshakes fail."""

_CONTEXT_CLASS = ssl.SSLContext
_roots: OrderedDict[str, bytes] = OrderedDict()
"""Sets of roots in PEM, by name: SHA-256 in hex."""

_names: OrderedDict[bytes, str] = OrderedDict()
"""The names of sets, by the SHA-256 of their certificates in DER."""


class Given:
    """What a TLS context has been given.

    :ivar has_certificate: whether it has a client certificate.
    :ivar has_ciphers: whether it has a list of ciphers of its own.
    :ivar files: the files, directories and data of roots, if there are unusual ones among them.
    """

    def __init__(self) -> None:
        self.has_certificate = False
        self.has_ciphers = False
        self.is_unusual = False
        self.files: list[tuple[Any, Any, Any]] = []
        self.named: tuple[int, str] = 0, ""


_given: WeakKeyDictionary[Any, Given] = WeakKeyDictionary()


def note_contents(context_class: Any) -> None:
    """Change a class of TLS contexts, so that it is noted what they are given."""
    load_chain = context_class.load_cert_chain
    load_roots = context_class.load_verify_locations
    choose = context_class.set_ciphers

    def load_cert_chain(self: Any, *args: Any, **kwargs: Any) -> Any:
        loaded = load_chain(self, *args, **kwargs)
        _given.setdefault(self, Given()).has_certificate = True
        return loaded

    def load_verify_locations(
        self: Any, cafile: Any = None, capath: Any = None, cadata: Any = None
    ) -> Any:
        loaded = load_roots(self, cafile, capath, cadata)
        if not (_is_usual(cafile) and _is_usual(capath)) or cadata is not None:
            found = _given.setdefault(self, Given())
            found.is_unusual = True
            found.files.append((cafile, capath, cadata))
        return loaded

    def set_ciphers(self: Any, *args: Any, **kwargs: Any) -> Any:
        chosen = choose(self, *args, **kwargs)
        _given.setdefault(self, Given()).has_ciphers = True
        return chosen

    context_class.load_cert_chain = load_cert_chain
    context_class.set_ciphers = set_ciphers
    context_class.load_verify_locations = load_verify_locations


def _is_usual(path: Any, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether a file or directory has the roots of the machine, or those of the variables.

    The package certifi, whose file many libraries load, has the same roots as machines have.
    """
    if path is None:
        return True
    text = os.fsdecode(path)
    usual = ssl.get_default_verify_paths()
    known = (usual.cafile, usual.capath, usual.openssl_cafile, usual.openssl_capath)
    if text in known or any(text == environment.get(name) for name in _VARIABLES):
        return True
    return os.path.basename(os.path.dirname(text)) in {"certifi", "botocore"}


def demand_lines(
    context: Any, pin: str = "", reason: str = "", *, offers_http_2: bool = False
) -> bytes:
    """Write the header lines of a ``CONNECT`` that say what is demanded of the server.

    :param context: the application's TLS context; ``None`` for the usual one.
    :param pin: the fingerprint in hex that the certificate must have; empty for any.
    :param reason: why the TLS is to reach the server, if the context does not say so.
    :param offers_http_2: whether the library offers HTTP/2 beside HTTP/1.1.
    :returns: empty, if it is nothing unusual.
    """
    found = _of(context)
    if not reason and found is not None and found.has_certificate:
        reason = CLIENT_CERTIFICATE
    reason = reason or (PINNED if pin else "") or _refusal_of(context)
    reason = reason or (SERVER_HTTP_2_ONLY if offers_http_2 else "")
    parts = [f"pin={pin}"] if pin else []
    if getattr(context, "verify_mode", ssl.CERT_REQUIRED) == ssl.CERT_NONE:
        parts.append("verify=0")
    else:
        if not getattr(context, "check_hostname", True):
            parts.append("name=0")
        if found is not None and found.is_unusual:
            parts.append(f"roots={_roots_of(context, found)}")
    parts += _protocol_parts(context, found)
    lines = f"Trafficmock-Alone: {reason}\r\n" if reason else ""
    if parts:
        lines += f"Trafficmock-Trust: {'; '.join(parts)}\r\n"
    return lines.encode("ascii")


def why_alone(lines: bytes) -> str:
    """Return why the TLS is to reach the server, as header lines say; empty if it is not."""
    first = lines.partition(b"\r\n")[0]
    return first.partition(b": ")[2].decode("ascii") if first.startswith(b"Trafficmock-A") else ""


def roots_named(name: str) -> bytes:
    """Return a set of roots in PEM; empty if it is not known any more."""
    return _roots.get(name, b"")


def _refusal_of(context: Any) -> str:
    """Return for what a context would refuse a server that the proxy accepts; empty for nothing."""
    crl_check = ssl.VERIFY_CRL_CHECK_LEAF | ssl.VERIFY_CRL_CHECK_CHAIN
    if _number(context, "verify_flags") & crl_check:
        return REVOCATION
    return ""


def _protocol_parts(context: Any, found: Given | None) -> list[str]:
    """Say with which versions and ciphers a context speaks, if it has some of its own.

    Ciphers of TLS 1.3 are not said: ``set_ciphers`` does not choose them. The security level
    (OpenSSL's ``@SECLEVEL``) comes with the ciphers, because the same call sets it.
    """
    least, newest = _versions(context)
    is_usual = least == _LEAST or (least < _LEAST and least == _usual_least())
    parts = [] if is_usual else [f"min={least}"]
    parts += [] if newest == _NEWEST else [f"max={newest}"]
    if found is None or not found.has_ciphers:
        return parts
    names = [name for name in _cipher_names(context) if not name.startswith("TLS_")]
    parts += [f"ciphers={':'.join(names)}"] if names else []
    level = getattr(context, "security_level", None)
    return [*parts, f"level={level}"] if isinstance(level, int) else parts


def _versions(context: Any) -> tuple[str, str]:
    """Return the least and the newest version of TLS that a context speaks."""
    least, newest = (_number(context, f"{which}_version") for which in ("minimum", "maximum"))
    options = _number(context, "options")
    spoken = [
        name
        for name, number, without in _VERSIONS
        if (least or _VERSIONS[2][1]) <= number and not (0 < newest < number or options & without)
    ]
    return (spoken[0], spoken[-1]) if spoken else _NO_VERSIONS


@lru_cache(maxsize=1)
def _usual_least() -> str:
    """Return the least version of contexts of this Python, which its OpenSSL decides."""
    return _versions(_CONTEXT_CLASS(ssl.PROTOCOL_TLS_CLIENT))[0]


def _cipher_names(context: Any) -> Iterable[str]:
    """Return OpenSSL's names of the ciphers of a context, by preference."""
    get: Callable[[], list[dict[str, Any]]] | None = getattr(context, "get_ciphers", None)
    if get is not None:
        return [each["name"] for each in get()]
    from OpenSSL.SSL import Connection  # the context is urllib3's, with one of pyOpenSSL within

    return Connection(context._ctx, None).get_cipher_list()


def _number(context: Any, name: str) -> int:
    """Return a number of a context; 0 where it has none, as contexts of other TLS libraries."""
    value = getattr(context, name, 0)
    return int(value) if isinstance(value, int) else 0


def _of(context: Any) -> Given | None:
    """Find what a context was given; that of truststore has another one within."""
    for each in (context, getattr(context, "_ctx", None)):
        if each is not None:
            try:
                found = _given.get(each)
            except TypeError:  # an object without weak references
                continue
            if found is not None:
                return found
    return None


def _roots_of(context: Any, found: Given) -> str:
    """Return the name of the roots of a context."""
    count, name = found.named
    if count == len(found.files) and name in _roots:
        return name
    certificates = sorted(set(_certificates(context, found)))
    digest = hashlib.sha256(b"".join(certificates)).digest()
    name = _names.get(digest, "")
    if name not in _roots:
        pem = "".join(map(ssl.DER_cert_to_PEM_cert, certificates)).encode("ascii")
        # A set without certificates trusts none, but needs a name of its own.
        pem = pem or b"none\n"
        name = hashlib.sha256(pem).hexdigest()
        _roots[name], _names[digest] = pem, name
        for kept in (_roots, _names):
            while len(kept) > _MOST_SETS:
                kept.popitem(last=False)
    found.named = len(found.files), name
    return name


def _certificates(context: Any, found: Given) -> Iterable[bytes]:
    """Yield the roots of a context in DER."""
    get: Callable[..., list[bytes]] | None = getattr(context, "get_ca_certs", None)
    if get is not None:
        yield from get(binary_form=True)
    for cafile, capath, cadata in found.files:
        paths = [] if capath is None else _files_in(os.fsdecode(capath))
        if get is None and cafile is not None:
            paths.append(os.fsdecode(cafile))
        for path in paths:
            with open(path, encoding="ascii", errors="replace") as file:
                yield from _in_pem(file.read())
        if get is None and cadata is not None:
            yield from _in_pem(cadata if isinstance(cadata, str) else bytes(cadata).decode("ascii"))


def _files_in(directory: str) -> list[str]:
    return [entry.path for entry in os.scandir(directory) if entry.is_file()]


def _in_pem(text: str) -> Iterable[bytes]:
    end = "-----END CERTIFICATE-----"
    for part in text.split(end)[:-1]:
        begin = part.find("-----BEGIN CERTIFICATE-----")
        if begin >= 0:
            yield ssl.PEM_cert_to_DER_cert(part[begin:] + end)
