"""Everything an application's environment must say to use the forward proxy."""

from __future__ import annotations

import datetime as dt
import ipaddress
from typing import TYPE_CHECKING

from trafficmock.certs.authority import open_authority
from trafficmock.certs.trust import make_trust
from trafficmock.joining.asking import AttachError, NoAnswerError, certificate_authority
from trafficmock.joining.java import with_java_options
from trafficmock.joining.proxying import ProxyAddress, direct_hosts, proxy_variables
from trafficmock.joining.trusting import trust_variables

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from trafficmock.certs.trust import Trust


def forward_variables(
    address: ProxyAddress,
    present: Mapping[str, str],
    ca_directory: Path,
    no_proxy: str | None = None,
) -> dict[str, str]:
    """List the variables that send an application's traffic through the forward proxy.

    The certificate to trust is the one that the proxy there gives, wherever it runs. Only
    when nothing answers on this machine it is the one that a proxy started here would use.

    :param present: the environment so far, whose own settings are kept where they can be.
    :param ca_directory: where certificates are kept on this machine.
    :param no_proxy: hosts to reach directly, instead of those of ``NO_PROXY``.
    :returns: nothing for a proxy that is no forward proxy.
    :raises AttachError: when the proxy has no certificate to give.
    :raises CertificateError: when files cannot be read or written here.
    """
    trust = _trust(address, present, ca_directory)
    if trust is None:
        return {}
    direct = direct_hosts(address, present, no_proxy)
    java = with_java_options(present.get("JAVA_TOOL_OPTIONS", ""), address, trust, direct)
    return {
        **proxy_variables(address, present, no_proxy),
        **trust_variables(trust, present),
        "JAVA_TOOL_OPTIONS": java,
    }


def _trust(address: ProxyAddress, present: Mapping[str, str], directory: Path) -> Trust | None:
    try:
        pem = certificate_authority(f"{address.scheme}://{address.authority}")
    except NoAnswerError:
        if not _is_local(address.host):
            raise
        pem = open_authority(directory, dt.datetime.now(dt.UTC)).pem
    return None if pem is None else make_trust(directory, pem, present)


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


__all__ = ["AttachError", "forward_variables"]
