"""Which certificates to trust, in the variables that runtimes look at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trafficmock.certificates.roots import CA_FILE_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trafficmock.certificates.trust_bundle import TrustBundle

_ADDING = ("NODE_EXTRA_CA_CERTS", "DENO_CERT")
"""Variables of runtimes that keep their own certificates beside those of the file."""


def trust_variables(trust: TrustBundle, present: Mapping[str, str]) -> dict[str, str]:
    """List the variables that name files of certificates.

    :param present: the environment so far; ``PHP_INI_SCAN_DIR`` is appended to.
    """
    variables = dict.fromkeys(CA_FILE_VARIABLES, str(trust.bundle))
    for name in _ADDING:
        # The bundle has what such a variable may have named before.
        variables[name] = str(trust.bundle if present.get(name) else trust.ca)
    scanned = present.get("PHP_INI_SCAN_DIR", "").split(os.pathsep)
    if str(trust.php) not in scanned:
        # An empty first word stands for the directory that PHP was built with.
        scanned.append(str(trust.php))
    variables["PHP_INI_SCAN_DIR"] = os.pathsep.join(scanned)
    return variables
