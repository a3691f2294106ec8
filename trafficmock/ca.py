"""``trafficmock ca``: the certificate authority, for people and their shells."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cryptography.hazmat.primitives import hashes
from twisted.python import usage

from trafficmock.certs.authority import CERTIFICATE, open_authority
from trafficmock.certs.files import default_directory
from trafficmock.certs.hints import hints
from trafficmock.certs.trust import make_trust

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cryptography import x509


class CaOptions(usage.Options):
    """The options of ``trafficmock ca``, and what to print."""

    synopsis = "Usage: trafficmock ca path|show|hints [options]"
    optParameters: ClassVar[list[Any]] = [  # noqa: N815 - Twisted's name
        ["ca-dir", None, None, "Where the certificate authority is; by default user data."]
    ]
    optFlags: ClassVar[list[Any]] = [  # noqa: N815 - Twisted's name
        ["text", None, "With show: what the certificate says, instead of the certificate."]
    ]

    def __init__(self, what: str) -> None:
        super().__init__()
        if what not in _PRINTED:
            raise usage.UsageError(f"one of {', '.join(_PRINTED)} is missing: trafficmock ca path")
        self["what"] = what

    def parseArgs(self, *words: str) -> None:  # noqa: N802 - Twisted's name
        """Take no more words.

        :raises usage.UsageError: when there are some.
        """
        if words:
            raise usage.UsageError(f"unknown argument {words[0]!r}; options begin with --")


def ca(words: Sequence[str]) -> str:
    """``trafficmock ca``: make the authority if there is none, and say what is asked for.

    :raises usage.UsageError: for words that are none.
    :raises CertificateError: when the authority cannot be read or made.
    """
    options = CaOptions(words[0] if words else "")
    options.parseOptions(list(words[1:]))
    given = options["ca-dir"]
    directory = Path(given).absolute() if given else default_directory(os.environ)
    return _PRINTED[options["what"]](directory, options)


def _path(directory: Path, _options: CaOptions) -> str:
    open_authority(directory, _now())
    return f"{directory / CERTIFICATE}\n"


def _show(directory: Path, options: CaOptions) -> str:
    authority = open_authority(directory, _now())
    return summary(authority.certificate) if options["text"] else authority.pem.decode()


def _hints(directory: Path, _options: CaOptions) -> str:
    return hints(make_trust(directory, open_authority(directory, _now()).pem, os.environ))


_PRINTED: dict[str, Callable[[Path, CaOptions], str]] = {
    "path": _path,
    "show": _show,
    "hints": _hints,
}


def summary(certificate: x509.Certificate) -> str:
    """Say of a certificate what people compare: whose, how long, and its fingerprint."""
    print_of = certificate.fingerprint(hashes.SHA256()).hex(":").upper()
    return (
        f"Subject:     {certificate.subject.rfc4514_string()}\n"
        f"Valid from:  {certificate.not_valid_before_utc:%Y-%m-%d %H:%M} UTC\n"
        f"Valid until: {certificate.not_valid_after_utc:%Y-%m-%d %H:%M} UTC\n"
        f"SHA-256:     {print_of}\n"
    )


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)
