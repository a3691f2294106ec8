"""What an attached process demands of a server's TLS, in the header of its ``CONNECT``.

Its library would verify the server itself. Within a tunnel that the proxy reads, the library sees
the proxy's certificate, so the proxy verifies the server in its place: by the roots, names and
fingerprint that the application's TLS context or its arguments have, and over the versions of TLS
and the ciphers of that context.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict

from attrs import define, field, frozen

from trafficmock.proxy.http1.attached_clients import ALONE, TRUST
from trafficmock.proxy.http1.heads import BadMessageError, RequestHead

MOST_ROOT_BYTES = 2 * 1024 * 1024
"""Bytes of the largest set of roots; that of Mozilla has 240,000."""

_MOST_SETS = 50
_LONGEST_REASON = 80
_HEX = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")
_VERSION = re.compile(r"1\.[0-3]")
_CIPHERS = re.compile(r"[A-Za-z0-9_-]{1,60}(:[A-Za-z0-9_-]{1,60}){0,255}")
_LEVEL = re.compile(r"[0-5]")
_CHOICES = {"min": _VERSION, "max": _VERSION, "ciphers": _CIPHERS, "level": _LEVEL}
"""The parts that choose how TLS is spoken, in the order of the parameters."""

_REASON = re.compile(rb"[ -~]{1,%d}" % _LONGEST_REASON)


@frozen(cache_hash=True)
class ServerDemands:
    """How a server is verified for the requests of a tunnel.

    :param verifies: whether its certificate needs a chain to a root.
    :param checks_name: whether it must be for the host of the server.
    :param roots: names the set of roots of the application; empty for those of this service.
    :param pin: the fingerprint of its certificate in hex, by MD5, SHA-1 or SHA-256; empty for any.
    :param least: the least version of TLS, ``1.0`` to ``1.3``; empty for that of this service.
    :param newest: the newest version of TLS; empty for that of this service.
    :param ciphers: OpenSSL's names of the ciphers up to TLS 1.2, with colons between them; empty
        for those of this service.
    :param level: OpenSSL's security level, ``0`` to ``5``; empty for that of this service.
    """

    verifies: bool = True
    checks_name: bool = True
    roots: str = ""
    pin: str = ""
    least: str = ""
    newest: str = ""
    ciphers: str = ""
    level: str = ""


def server_demands(head: RequestHead) -> ServerDemands | None:
    """Read ``Trafficmock-Trust: verify=0; name=0; roots=HEX; pin=HEX; min=1.3``, and so on.

    Each part is optional.

    :returns: ``None``, if a ``CONNECT`` demands nothing unusual.
    :raises BadMessageError: if the header is malformed.
    """
    value = head.fields.get(TRUST)
    if value is None:
        return None
    parts = [part.strip().partition("=") for part in value.decode("latin-1").split(";")]
    named = {name: text for name, _, text in parts}
    roots, pin = named.pop("roots", ""), named.pop("pin", "").lower()
    verify, name = named.pop("verify", "1"), named.pop("name", "1")
    chosen = [named.pop(each, "") for each in _CHOICES]
    is_wrong = any(
        text and not form.fullmatch(text)
        for form, text in zip(_CHOICES.values(), chosen, strict=True)
    )
    if named or is_wrong or not {verify, name} <= {"0", "1"} or not all(map(_is_hex, (roots, pin))):
        raise BadMessageError("Trafficmock-Trust is malformed.")
    return ServerDemands(verify == "1", name == "1", roots, pin, *chosen)


def reason_to_leave_alone(head: RequestHead) -> str:
    """Read why the process wants its TLS to reach the server; empty if it does not."""
    value = head.fields.get(ALONE, b"")
    return value.decode("ascii") if _REASON.fullmatch(value) else ""


def _is_hex(text: str) -> bool:
    return not text or _HEX.fullmatch(text) is not None


@define
class RootSets:
    """The sets of roots of applications, each named by the SHA-256 of its PEM blocks."""

    _sets: OrderedDict[str, bytes] = field(factory=OrderedDict, repr=False)

    def add(self, pem: bytes) -> str:
        """Keep a set, and return its name."""
        name = hashlib.sha256(pem).hexdigest()
        self._sets[name] = pem
        self._sets.move_to_end(name)
        if len(self._sets) > _MOST_SETS:
            self._sets.popitem(last=False)
        return name

    def get(self, name: str) -> bytes | None:
        """Return the PEM blocks of a set; ``None`` if it is not known, or not any more."""
        found = self._sets.get(name)
        if found is not None:
            self._sets.move_to_end(name)
        return found
