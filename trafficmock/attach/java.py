"""Proxy and certificates as options of the Java virtual machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trafficmock.certificates.trust_bundle import TRUSTSTORE_PASSWORD
from trafficmock.ipv6 import read_ipv6

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.attach.proxy_variables import ProxyAddress
    from trafficmock.certificates.trust_bundle import TrustBundle

_NAME = re.compile(r"[\w*.-]+\Z")


def with_java_options(
    java_tool_options: str, address: ProxyAddress, trust: TrustBundle, direct: Iterable[str]
) -> str:
    """Append the options to ``JAVA_TOOL_OPTIONS``; the last of several counts in Java.

    The options have no place for credentials: the application asks as the default client, or
    gives them itself.

    :param java_tool_options: what is there already.
    :param direct: hosts to reach directly, as ``NO_PROXY`` has them.
    """
    ours = {
        "http.proxyHost": address.host,
        "http.proxyPort": str(address.port),
        "https.proxyHost": address.host,
        "https.proxyPort": str(address.port),
        # Without it Java would leave loopback out.
        "http.nonProxyHosts": "|".join(non_proxy_hosts(direct)),
        "javax.net.ssl.trustStore": str(trust.truststore),
        "javax.net.ssl.trustStoreType": "PKCS12",
        "javax.net.ssl.trustStorePassword": TRUSTSTORE_PASSWORD,
    }
    if address.token is not None:
        # Java gives no password to a proxy for a tunnel, unless this list of schemes is empty.
        ours["jdk.http.auth.tunneling.disabledSchemes"] = ""
    text = " ".join(_quoted(f"-D{name}={value}") for name, value in ours.items())
    if text in java_tool_options:
        return java_tool_options
    return f"{java_tool_options} {text}".strip()


def non_proxy_hosts(direct: Iterable[str]) -> list[str]:
    """Say hosts of ``NO_PROXY`` as ``http.nonProxyHosts`` has them.

    The option has no form for networks and hosts with a port, so they are left out.
    """
    hosts: list[str] = []
    for word in direct:
        address = read_ipv6(word)
        if address is not None:
            hosts.append(f"[{address}]")
            continue
        if not _NAME.match(word):
            continue
        name = word.removeprefix("*").removeprefix(".")
        if not name:
            return ["*"]
        hosts.append(name)
        if not re.fullmatch(r"[\d.]+", name):
            # A name stands for what is below it, too.
            hosts.append(f"*.{name}")
    return list(dict.fromkeys(hosts))


def _quoted(option: str) -> str:
    """Quote an option as the virtual machine reads it, where it has blanks."""
    return f'"{option}"' if re.search(r"\s", option) else option
