"""The options by which a Java virtual machine uses the proxy and trusts its certificates."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from trafficmock.attach.proxy_variables import ProxyAddress
from trafficmock.certificates.trust_bundle import TRUSTSTORE_PASSWORD, TrustBundle

_NAME = re.compile(r"[\w*.-]+\Z")


def with_java_options(
    java_tool_options: str, address: ProxyAddress, trust: TrustBundle, direct: Iterable[str]
) -> str:
    """Append the options to ``JAVA_TOOL_OPTIONS``; the last of several has effect in Java.

    Java has no option for credentials of a proxy: without code of its own, an application has the
    default client id.

    :param java_tool_options: the present value.
    :param direct: hosts to reach directly, in the form of ``NO_PROXY``.
    """
    ours = {
        "http.proxyHost": address.host,
        "http.proxyPort": str(address.port),
        "https.proxyHost": address.host,
        "https.proxyPort": str(address.port),
        # The default excludes loopback addresses.
        "http.nonProxyHosts": "|".join(non_proxy_hosts(direct)),
        "javax.net.ssl.trustStore": str(trust.truststore),
        "javax.net.ssl.trustStoreType": "PKCS12",
        "javax.net.ssl.trustStorePassword": TRUSTSTORE_PASSWORD,
    }
    if address.token is not None:
        # Java sends no Basic credentials for a tunnel, unless this list of schemes is empty.
        ours["jdk.http.auth.tunneling.disabledSchemes"] = ""
    text = " ".join(_quoted(f"-D{name}={value}") for name, value in ours.items())
    if text in java_tool_options:
        return java_tool_options
    return f"{java_tool_options} {text}".strip()


def non_proxy_hosts(direct: Iterable[str]) -> list[str]:
    """Convert hosts of ``NO_PROXY`` to the form of ``http.nonProxyHosts``.

    Networks and hosts with a port are left out, because the option has no form for them.
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
            # In NO_PROXY a name also matches its subdomains.
            hosts.append(f"*.{name}")
    return list(dict.fromkeys(hosts))


def _quoted(option: str) -> str:
    """Quote an option with blanks, as the virtual machine reads it."""
    return f'"{option}"' if re.search(r"\s", option) else option


def read_ipv6(text: str) -> str | None:
    """Parse an IPv6 address without a port.

    ``::1`` is an address, not a host with a port: ``host:port`` has one colon.

    :param text: the address, with or without the brackets of URLs (RFC 3986 section 3.2.2).
    :returns: the address in its compressed form, without brackets; ``None`` for any other text,
        also for an address with a zone (``fe80::1%eth0``).
    """
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if ":" not in bare or "%" in bare:
        return None
    try:
        return str(ipaddress.IPv6Address(bare))
    except ValueError:
        return None
