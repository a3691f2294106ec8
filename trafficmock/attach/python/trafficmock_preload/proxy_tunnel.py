"""Connections to servers as tunnels through the forward proxy (``CONNECT``, RFC 9110 9.3.6).

The library that asked for the connection speaks through it as if it were the server's. Where the
proxy reads what is within, its answer to ``CONNECT`` names the certificate authority by which it
can; a tunnel that it does not read is left as any other connection.
"""

from __future__ import annotations

import errno
import os
from binascii import Error as CodingError
from binascii import a2b_base64
from weakref import WeakKeyDictionary

from trafficmock_preload.direct_targets import DirectTargets

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Iterable
    from typing import Any

    from trafficmock_preload.preload_settings import PreloadSettings

END = b"\r\n\r\n"
MOST_BYTES = 65536
_ESTABLISHED = 200
_AUTHORITY = b"trafficmock-authority"
_WITHOUT_PROXY = (
    "Start it (trafficmock serve), or start the application without TRAFFICMOCK_PROXY_URL."
)
_ENDED = "If it has ended, start it again (trafficmock serve)."


class Tunnels:
    """Opens tunnels, and knows which sockets are some that the proxy reads.

    :param settings: where the proxy is; ``None`` where a variable is wrong.
    :param problem: what is wrong, which every request then fails with.
    :ivar changed: the modules whose connections are tunnels.
    """

    def __init__(self, settings: PreloadSettings | None, problem: str = "") -> None:
        self.settings = settings
        self.problem = problem
        self.changed: set[str] = set()
        self._direct = None if settings is None else DirectTargets(settings)
        self._read: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()

    def wants(self, host: object, port: object) -> bool:
        """Tell whether a server is to be reached through the proxy."""
        if isinstance(host, (bytes, bytearray)):
            host = host.decode("ascii", "replace")
        if not isinstance(host, str) or not host or not isinstance(port, int):
            return False
        return self._direct is None or not self._direct.includes(host, port)

    def is_proxy_url(self, url: object) -> bool:
        """Tell whether a text is the URL of trafficmock's proxy."""
        from trafficmock_preload.preload_settings import split_authority

        if not isinstance(url, str) or self._direct is None:
            return False
        place = url.rpartition("://")[2].partition("/")[0].rpartition("@")[2]
        host, port = split_authority(place)
        return port is not None and self._direct.is_proxy(host, port)

    def proxy(self) -> tuple[str, int]:
        """Give host and port of the proxy.

        :raises ConnectionRefusedError: a variable is wrong.
        """
        if self.settings is None:
            raise refused(self.problem)
        return self.settings.host, self.settings.port

    def request(self, host: str, port: int) -> bytes:
        """Write the ``CONNECT`` for a server."""
        host = host.strip("[]")
        name = f"[{host}]" if ":" in host else host
        try:
            coded = name.encode("ascii")
        except UnicodeEncodeError:
            coded = name.encode("idna")
        target = b"%s:%d" % (coded, port)
        credentials = b"" if self.settings is None else self.settings.credentials
        return b"".join(
            (
                b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n" % (target, target),
                b"Proxy-Authorization: %s\r\n" % credentials,
                b"Trafficmock-Agent: python\r\n\r\n",
            )
        )

    def authority(self, answer: bytes) -> bytes | None:
        """Read the proxy's answer to ``CONNECT``.

        :returns: its authority in DER, ``None`` where it does not read the tunnel.
        :raises ConnectionRefusedError: it opens none.
        """
        head, _, body = answer.partition(END)
        first, *lines = head.split(b"\r\n")
        words = first.split(None, 2)
        status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
        if status != _ESTABLISHED:
            raise refused(f"{self.name} opens no tunnel: {_reason(status, body)}")
        for line in lines:
            name, _, value = line.partition(b":")
            if name.strip().lower() == _AUTHORITY:
                try:
                    return a2b_base64(value.strip())
                except CodingError:
                    break
        return None

    @property
    def name(self) -> str:
        """What error texts call the proxy."""
        return (
            "trafficmock" if self.settings is None else f"trafficmock at {self.settings.authority}"
        )

    def open_socket(
        self,
        address: tuple[str, int],
        timeout: Any = None,
        source_address: Any = None,
        socket_options: Iterable[tuple[Any, ...]] | None = None,
    ) -> socket.socket:
        """Open a tunnel, as ``socket.create_connection`` opens a connection.

        :param source_address: is that of connections to the server, which are the proxy's.
        :raises OSError: the proxy cannot be reached, or opens none.
        """
        import socket

        try:
            opened = socket.create_connection(self.proxy(), timeout)
        except OSError as error:
            raise self.unreachable(error) from error
        try:
            for option in socket_options or ():
                opened.setsockopt(*option)
            opened.sendall(self.request(*address[:2]))
            answer = TunnelAnswer(self)
            while not answer.add(opened.recv(MOST_BYTES)):
                continue
            self.mark(opened, answer.authority)
        except BaseException:
            opened.close()
            raise
        return opened

    def unreachable(self, error: OSError) -> OSError:
        """Say that the proxy is not there, by an error of the same kind."""
        if self.settings is None:
            return error
        return _of_same_kind(error, self.not_reached(error.strerror or error))

    def not_reached(self, why: object) -> str:
        """Write what an error says where nobody listens."""
        return f"{self.name} cannot be reached ({why}). {_WITHOUT_PROXY}"

    def closed(self) -> OSError:
        """Say that the proxy hung up before it opened a tunnel."""
        return ConnectionResetError(errno.ECONNRESET, f"{self.name} closed the connection")

    @property
    def unanswered(self) -> str:
        """What an error says of a request in whose tunnel the proxy hung up."""
        return f"{self.name} closed the connection without an answer. {_ENDED}"

    def lost(self, error: OSError) -> OSError:
        """Say that the proxy hung up, by an error of the same kind; servers do not end a tunnel."""
        return _of_same_kind(error, self.unanswered)

    def mark(self, opened: Any, authority: bytes | None) -> None:
        """Remember that the proxy reads what goes over a connection."""
        if authority is not None:
            self._read[opened] = authority

    def authority_of(self, opened: Any) -> bytes | None:
        """Give the authority of a connection that the proxy reads; ``None`` for all others."""
        return None if opened is None else self._read.get(opened)


class TunnelAnswer:
    """The answer to a ``CONNECT`` as it comes.

    :ivar authority: by which the proxy reads the tunnel, in DER; ``None`` where it does not.
    """

    def __init__(self, tunnels: Tunnels) -> None:
        self.authority: bytes | None = None
        self._tunnels = tunnels
        self._read = b""

    def add(self, data: bytes) -> bool:
        """Take what was read from the proxy.

        :returns: whether the tunnel is open.
        :raises OSError: the proxy opens none, or hung up.
        """
        if not data:
            raise self._tunnels.closed()
        self._read += data
        if END not in self._read and len(self._read) < MOST_BYTES:
            return False
        self.authority = self._tunnels.authority(self._read)
        return True


def refused(text: str) -> ConnectionRefusedError:
    """Make the error for a request that cannot be sent."""
    return ConnectionRefusedError(errno.ECONNREFUSED, text)


def _of_same_kind(error: OSError, text: str) -> OSError:
    return type(error)(text) if error.errno is None else type(error)(error.errno, text)


def _reason(status: int, body: bytes) -> str:
    """Give the proxy's own words, else its status."""
    import json

    try:
        return str(json.loads(body)["message"])
    except (ValueError, TypeError, LookupError):
        return os.strerror(errno.EPROTO) if status == 0 else f"status {status}"
