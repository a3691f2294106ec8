"""The environment variables with files of certificates to trust."""

from __future__ import annotations

import os
from collections.abc import Mapping

from trafficmock.certificates.roots import CA_FILE_VARIABLES
from trafficmock.certificates.trust_bundle import TrustBundle

_ADDING = ("NODE_EXTRA_CA_CERTS", "DENO_CERT")
"""Variables of runtimes that trust their own roots in addition to the file."""


def trust_variables(trust: TrustBundle, present: Mapping[str, str]) -> dict[str, str]:
    """Make the variables that name files of certificates.

    :param present: the environment without the attachment; its ``PHP_INI_SCAN_DIR`` is kept.
    """
    variables = dict.fromkeys(CA_FILE_VARIABLES, str(trust.bundle))
    for name in _ADDING:
        # The bundle also has the certificates of the file that the variable named before.
        variables[name] = str(trust.bundle if present.get(name) else trust.ca)
    scanned = present.get("PHP_INI_SCAN_DIR", "").split(os.pathsep)
    if str(trust.php) not in scanned:
        # An empty first entry is the directory that PHP was built with.
        scanned.append(str(trust.php))
    variables["PHP_INI_SCAN_DIR"] = os.pathsep.join(scanned)
    return variables
