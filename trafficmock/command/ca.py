"""``trafficmock ca``: the certificate authority, for people and their shells."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cryptography.hazmat.primitives import hashes
from twisted.python import usage

from trafficmock.certificates.authority import CERTIFICATE, open_authority
from trafficmock.certificates.files import default_directory
from trafficmock.certificates.runtime_hints import hints
from trafficmock.certificates.trust_bundle import make_trust

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cryptography import x509


class KeptOptions(usage.Options):
    """The options of ``trafficmock ca path`` and ``trafficmock ca hints``."""

    longdesc = "The authority is made on first use; its key never leaves the directory."
    optParameters: ClassVar[list[Any]] = [  # noqa: N815 - Twisted's name
        ["ca-dir", None, None, "Where the certificate authority is; by default user data."]
    ]

    def parseArgs(self, *words: str) -> None:  # noqa: N802 - Twisted's name
        """Take no more words.

        :raises usage.UsageError: when there are some.
        """
        if words:
            raise usage.UsageError(f"unknown argument {words[0]!r}; options begin with --")


class ShowOptions(KeptOptions):
    """The options of ``trafficmock ca show``."""

    optFlags: ClassVar[list[Any]] = [  # noqa: N815 - Twisted's name
        ["text", None, "What the certificate says, instead of the certificate."]
    ]


class CaOptions(usage.Options):
    """The words of ``trafficmock ca``."""

    synopsis = "Usage: trafficmock ca"
    longdesc = "The certificate that https clients of the proxy have to trust, made on first use."
    subCommands: ClassVar[list[Any]] = [  # noqa: N815 - Twisted's name
        ["path", None, KeptOptions, "print where the certificate is"],
        ["show", None, ShowOptions, "print the certificate; --text: its validity and fingerprint"],
        ["hints", None, KeptOptions, "say what each runtime needs to trust it"],
    ]

    def postOptions(self) -> None:  # noqa: N802 - Twisted's name
        """Ask for one of the three words.

        :raises usage.UsageError: when there is none.
        """
        if self.subCommand is None:
            raise usage.UsageError("one of path, show, hints is missing: trafficmock ca path")


def ca(words: Sequence[str]) -> str:
    """``trafficmock ca``: make the authority if there is none, and say what is asked for.

    :raises usage.UsageError: for words that are none.
    :raises CertificateError: when the authority cannot be read or made.
    """
    options = CaOptions()
    options.parseOptions(list(words))
    chosen = options.subOptions
    given = chosen["ca-dir"]
    directory = Path(given).absolute() if given else default_directory(os.environ)
    return _PRINTED[str(options.subCommand)](directory, chosen)


def _path(directory: Path, _options: usage.Options) -> str:
    open_authority(directory, _now())
    return f"{directory / CERTIFICATE}\n"


def _show(directory: Path, options: usage.Options) -> str:
    authority = open_authority(directory, _now())
    return summary(authority.certificate) if options["text"] else authority.pem.decode()


def _hints(directory: Path, _options: usage.Options) -> str:
    return hints(make_trust(directory, open_authority(directory, _now()).pem, os.environ))


_PRINTED: dict[str, Callable[[Path, usage.Options], str]] = {
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
