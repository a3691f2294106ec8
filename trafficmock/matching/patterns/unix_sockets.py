"""URLs of requests over UNIX sockets, as ``http+unix://%2Frun%2Fdocker.sock/v1/info``.

The path of the socket is in the place of the host, percent-encoded. Such requests are seen only if
a pattern names them: one that begins with this scheme.
"""

import re

UNIX_SCHEME = "http+unix:"
"""The scheme of requests-unixsocket and of the Docker SDK for Python."""

_AUTHORITY = re.compile(r"(http\+unix:)//([^/?#]*)", re.IGNORECASE)
_ENCODED = re.compile(r"%[0-9a-f]{2}", re.IGNORECASE)


def is_unix_socket(url: str) -> bool:
    """Return whether a URL, or a glob, is one of requests over UNIX sockets."""
    return url.startswith(UNIX_SCHEME)


def normalised(glob: str) -> str:
    """Write the scheme and the path of the socket as agents write them: ``%2F`` in capitals.

    :param glob: a glob of such URLs. Without a path it gets a slash, as ``https://HOST`` does.
    """
    found = _AUTHORITY.match(glob)
    if found is None:
        return glob
    socket = _ENCODED.sub(lambda code: code[0].upper(), found[2])
    rest = glob[found.end() :]
    return f"{UNIX_SCHEME}//{socket}{'' if rest.startswith('/') else '/'}{rest}"
