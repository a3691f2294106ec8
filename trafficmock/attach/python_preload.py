"""The directory of the preload for Python, and the variable by which processes load it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import ssl
from collections.abc import Mapping
from pathlib import Path

from trafficmock.attach.node import first_line

DIRECTORY = Path(__file__).parent / "python"
"""The directory with ``sitecustomize``, which Python imports before the application begins."""

OFF_VARIABLE = "TRAFFICMOCK_PYTHON_PRELOAD"
"""If it is 0, Python processes use the proxy variables, as other programs do."""

AUTHORITY_VARIABLE = "TRAFFICMOCK_AUTHORITY_SHA256"
"""The fingerprint of the proxy's authority: the preload trusts no other in its tunnels."""

ALLOW_UNATTACHED_VARIABLE = "TRAFFICMOCK_ALLOW_UNATTACHED"
"""If it is 1, clients may be imported that the preload cannot attach; else it refuses them."""

HTTPS_PROBLEM = (
    "Python applications need an http:// URL of the proxy, because their connections are tunnels "
    f"through it; with {OFF_VARIABLE}=0 they are started without the preload"
)

_PYTHON = re.compile(r"(python|pypy)[\d.]*\Z")
_SCRIPT = re.compile(rb"#!.*\b(python|pypy)[\d.]*\b")


def runs_python(command: str, search: str | None = None) -> bool:
    """Return whether a command is certain to be a Python process, by its name or its first line.

    :param command: the first word of a command line.
    :param search: the directories to search, in the form of ``PATH``; by default ``PATH``.
    """
    if _PYTHON.match(Path(command).name):
        return True
    found = shutil.which(command, path=search)
    return found is not None and _SCRIPT.match(first_line(found)) is not None


def https_problem(scheme: str, present: Mapping[str, str]) -> str | None:
    """Return the error text for Python applications and a proxy behind TLS, or ``None``.

    :param scheme: the scheme of the proxy's URL.
    :param present: the environment, which may turn the preload off.
    """
    return HTTPS_PROBLEM if scheme == "https" and present.get(OFF_VARIABLE) != "0" else None


def fingerprint(pem: bytes) -> str:
    """Return the SHA-256 of a certificate, of its DER form, in hex.

    :param pem: the certificate in PEM.
    """
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem.decode("ascii"))).hexdigest()


def python_variables(present: Mapping[str, str], directory: Path = DIRECTORY) -> dict[str, str]:
    """Make the variable by which a Python process loads the preload.

    :param present: the environment without the attachment; its ``PYTHONPATH`` is kept behind the
        preload.
    :param directory: the directory of the preload.
    """
    if present.get(OFF_VARIABLE) == "0":
        return {}
    entries = [entry for entry in present.get("PYTHONPATH", "").split(os.pathsep) if entry]
    others = [entry for entry in entries if entry != str(directory)]
    return {"PYTHONPATH": os.pathsep.join([str(directory), *others])}
