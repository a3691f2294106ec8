"""``trafficmock ca``: print the certificate of the authority, its path, or hints for runtimes."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes

from trafficmock.attach.agent_variables import DEFAULT_PROXY_URL
from trafficmock.certificates.authority import CERTIFICATE, CertificateAuthority, open_authority
from trafficmock.certificates.files import default_directory
from trafficmock.certificates.runtime_hints import hints
from trafficmock.certificates.trust_bundle import make_trust
from trafficmock.command.arguments import command_parser
from trafficmock.command.exit_status import OK

EXAMPLES = """\
  trafficmock ca path           # print where the certificate is
  trafficmock ca show --text    # print its validity and fingerprint
  trafficmock ca hints          # print what each runtime needs to trust it
"""


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command."""
    made = command_parser(
        "ca",
        "The certificate that https clients of the proxy have to trust. The authority is made "
        "on first use; its key never leaves the directory.",
        EXAMPLES,
        http_proxy=False,
    )
    made.add_argument("what", choices=_PRINTED, help="what to print")
    made.add_argument(
        "--text", action="store_true", help="with show: print the fields of the certificate"
    )
    made.add_argument(
        "--ca-dir", metavar="DIR", help="where the certificate authority is (default: user data)"
    )
    return made


def main(words: Sequence[str]) -> int:
    """Run the command; it makes the authority if there is none.

    :returns: the exit status.
    :raises CertificateError: if the authority cannot be read or made.
    """
    reader = parser()
    options = reader.parse_args(words)
    if options.text and options.what != "show":
        reader.error("--text goes with show: trafficmock ca show --text")
    given = options.ca_dir
    directory = Path(given).absolute() if given else default_directory(os.environ)
    authority = open_authority(directory, dt.datetime.now(dt.UTC))
    sys.stdout.write(_PRINTED[options.what](directory, authority, options))
    return OK


def _path(directory: Path, _authority: CertificateAuthority, _options: argparse.Namespace) -> str:
    return f"{directory / CERTIFICATE}\n"


def _show(_directory: Path, authority: CertificateAuthority, options: argparse.Namespace) -> str:
    return summary(authority.certificate) if options.text else authority.pem.decode()


def _hints(directory: Path, authority: CertificateAuthority, _options: argparse.Namespace) -> str:
    return hints(make_trust(directory, authority.pem, os.environ), DEFAULT_PROXY_URL)


_PRINTED: dict[str, Callable[[Path, CertificateAuthority, argparse.Namespace], str]] = {
    "path": _path,
    "show": _show,
    "hints": _hints,
}


def summary(certificate: x509.Certificate) -> str:
    """Return lines with a certificate's subject, validity and fingerprint."""
    print_of = certificate.fingerprint(hashes.SHA256()).hex(":").upper()
    return (
        f"Subject:     {certificate.subject.rfc4514_string()}\n"
        f"Valid from:  {certificate.not_valid_before_utc:%Y-%m-%d %H:%M} UTC\n"
        f"Valid until: {certificate.not_valid_after_utc:%Y-%m-%d %H:%M} UTC\n"
        f"SHA-256:     {print_of}\n"
    )
