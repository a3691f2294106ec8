"""IPv6 addresses in options and arguments that take a host, with and without brackets."""

import ipaddress


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
