"""IPv6 addresses where people write hosts: bare or in brackets."""

import ipaddress


def read_ipv6(text: str) -> str | None:
    """Read an IPv6 address, which has no port beside it.

    Whoever writes ``::1`` means the address: a host and its port have one colon.

    :param text: with or without the brackets that it has in URLs (RFC 3986 section 3.2.2).
    :returns: it as URLs have it, without brackets; ``None`` for anything else, an address with a
        zone included.
    """
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if ":" not in bare or "%" in bare:
        return None
    try:
        return str(ipaddress.IPv6Address(bare))
    except ValueError:
        return None
