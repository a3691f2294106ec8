"""Opens tunnels to servers through the forward proxy (``CONNECT``, RFC 9110 section 9.3.6).

A library uses a tunnel like a connection to the server. If the proxy reads the tunnel, its answer
to ``CONNECT`` has the certificate of its authority, which signs the server's certificate within.
"""

from __future__ import annotations

import errno
import os
from binascii import Error as CodingError
from binascii import a2b_base64, b2a_base64
from weakref import WeakKeyDictionary

from trafficmock_preload.attached_process import command_line
from trafficmock_preload.direct_targets import DirectTargets

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable
    from typing import Any

    from trafficmock_preload.preload_settings import PreloadSettings

END = b"\r\n\r\n"
MOST_BYTES = 65536
_ESTABLISHED = 200
_MOST_OF_COMMAND = 500
_AUTHORITY = b"trafficmock-authority"
_ORIGINS = b"trafficmock-origins:"
_ROOTS = b"trafficmock-roots"
_NOWHERE = "trafficmock.invalid", 443
_SEND_SECONDS = 5
_ASK_SECONDS = 1
_MOST_OWN = 100
_WITHOUT_PROXY = (
    "Start it (trafficmock serve), or start the application without TRAFFICMOCK_PROXY_URL."
)
_OTHER_AUTHORITY = (
    "has another certificate authority than the one for which this application was started "
    "(TRAFFICMOCK_AUTHORITY_SHA256). Another program listens there, or the proxy's certificates "
    "were made anew: start the application again (trafficmock run)."
)
_ENDED = "If it has ended, start it again (trafficmock serve)."


class Tunnels:
    """Opens tunnels, and remembers those that the proxy reads.

    :param settings: the settings of the preload; ``None`` if a variable is wrong.
    :param problem: the text of the error with which each request then fails.
    :ivar ignored: is called with host and port of each connection to an ignored host.
    :ivar asked: is called with whether the proxy wants to know where requests without a context
        come from.
    :ivar tells_origins: whether this process tells that.
    :ivar reads_contexts: tells whether this process reads the contexts of requests that come in.
    :ivar pins: the fingerprints in hex that servers' certificates must have, by connection.
    :ivar changed: the names of modules whose connections are tunnels.
    """

    def __init__(self, settings: PreloadSettings | None, problem: str = "") -> None:
        self.settings = settings
        self.problem = problem
        self.ignored: Callable[[str, int], None] = _nothing
        self.asked: Callable[[bool], None] = _nobody
        self.tells_origins = False
        self.reads_contexts: Callable[[], bool] = bool
        self.changed: set[str] = set()
        self.tests_pid = 0
        self._direct = None if settings is None else DirectTargets(settings)
        self._is_closed = False
        self._named = 0, b""
        self._read: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()
        self._servers: WeakKeyDictionary[Any, tuple[str, int]] = WeakKeyDictionary()
        self.pins: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._own: set[bytes] = set()
        self._told: set[tuple[str, int, str]] = set()

    def wants(self, host: object, port: object) -> bool:
        """Return whether a server is to be reached through the proxy."""
        if isinstance(host, (bytes, bytearray)):
            host = host.decode("ascii", "replace")
        if not isinstance(host, str) or not host or not isinstance(port, int):
            return False
        if self._is_closed:
            return False
        if self._direct is None or not self._direct.includes(host, port):
            return True
        if not self._direct.is_near(host, port):
            self.ignored(host, port)
        return False

    def close(self) -> None:
        """Open no tunnel from now on: requests go to their servers directly."""
        self._is_closed = True

    def is_proxy_url(self, url: object) -> bool:
        """Return whether a value is the URL of trafficmock's proxy."""
        from trafficmock_preload.preload_settings import split_authority

        if not isinstance(url, str) or self._direct is None:
            return False
        place = url.rpartition("://")[2].partition("/")[0].rpartition("@")[2]
        host, port = split_authority(place)
        return port is not None and self._direct.is_proxy(host, port)

    def is_proxy(self, host: object, port: object) -> bool:
        """Return whether a server is trafficmock's proxy."""
        known = isinstance(host, str) and isinstance(port, int)
        return known and self._direct is not None and self._direct.is_proxy(host, port)  # type: ignore[arg-type]

    def proxy(self) -> tuple[str, int]:
        """Return host and port of the proxy.

        :raises ConnectionRefusedError: if a variable is wrong.
        """
        if self.settings is None:
            raise refused(self.problem)
        return self.settings.host, self.settings.port

    def request(self, host: str, port: int, added: bytes = b"") -> bytes:
        """Write the ``CONNECT`` for a server.

        :param added: more lines of its header.
        """
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
                b"Trafficmock-Agent: %s\r\n%s\r\n" % (self._agent(), added),
            )
        )

    def _agent(self) -> bytes:
        """Say which process this is; after a fork it is another one."""
        pid = os.getpid()
        if self._named[0] != pid:
            command = " ".join(command_line())[:_MOST_OF_COMMAND].encode("utf-8", "replace")
            coded = b2a_base64(command, newline=False)
            self._named = pid, b"pid=%d; command=%s" % (pid, coded)
        return b"".join(
            (
                b"python; ",
                # A child by fork is an application, not the process of the tests.
                b"tests; " if self.tests_pid == pid else b"",
                b"origins; " if self.tells_origins else b"",
                b"seen-contexts; " if self.reads_contexts() else b"",
                self._named[1],
            )
        )

    def authority(self, answer: bytes) -> bytes | None:
        """Read the proxy's answer to ``CONNECT``.

        :returns: its authority in DER; ``None`` if it does not read the tunnel.
        :raises ConnectionRefusedError: if the proxy refuses the tunnel, or its authority is not
            that of the environment.
        """
        head, _, body = answer.partition(END)
        first, *lines = head.split(b"\r\n")
        words = first.split(None, 2)
        status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
        if status != _ESTABLISHED:
            raise refused(f"{self.name} opens no tunnel: {_reason(status, body)}")
        self.asked(any(line.lower().startswith(_ORIGINS) for line in lines))
        for line in lines:
            name, _, value = line.partition(b":")
            if name.strip().lower() == _ROOTS:
                self._send_roots(value.strip().decode("ascii", "replace"))
        for line in lines:
            name, _, value = line.partition(b":")
            if name.strip().lower() == _AUTHORITY:
                try:
                    authority = a2b_base64(value.strip())
                except CodingError:
                    break
                self._check(authority)
                return authority
        return None

    def _send_roots(self, name: str) -> None:
        """Send the proxy the roots that a tunnel demands.

        Without them the proxy trusts no server of that tunnel, and its answer says so.
        """
        import socket
        from contextlib import closing, suppress

        from trafficmock_preload.demanded_trust import roots_named

        pem = roots_named(name)
        more = b"Trafficmock-Notice: roots\r\nContent-Length: %d\r\n" % len(pem)
        with suppress(OSError):
            opened = socket.create_connection(self.proxy(), _SEND_SECONDS)
            with closing(opened):
                opened.sendall(self.request(*_NOWHERE, more) + pem)
                opened.recv(MOST_BYTES)

    def _check(self, authority: bytes) -> None:
        """Refuse an authority that is not that of the environment.

        Another program may listen on the proxy's port while the proxy does not run.

        :raises ConnectionRefusedError: if it is another one.
        """
        expected = "" if self.settings is None else self.settings.authority_sha256
        if not expected:
            return
        import hashlib

        if hashlib.sha256(authority).hexdigest() != expected:
            raise refused(f"{self.name} {_OTHER_AUTHORITY}")

    @property
    def name(self) -> str:
        """The name of the proxy in error texts."""
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
        """Open a tunnel, with the arguments of ``socket.create_connection``.

        :param source_address: ignored, because the proxy connects to the server.
        :raises OSError: if the proxy cannot be reached, or refuses the tunnel.
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
            self.mark(opened, self._answer(opened))
            self._servers[opened] = address[0], address[1]
        except BaseException:
            opened.close()
            raise
        return opened

    def _answer(self, opened: socket.socket) -> bytes | None:
        answer = TunnelAnswer(self)
        while not answer.add(opened.recv(MOST_BYTES)):
            continue
        return answer.authority

    def demand(self, opened: Any, lines: bytes) -> bytes | None:
        """Tell the proxy what is demanded of the server of a tunnel, before TLS begins in it.

        :param lines: header lines of :mod:`.demanded_trust`; nothing is said if they are empty.
        :returns: the authority of the proxy; ``None`` if it leaves the TLS alone.
        :raises OSError: if the proxy refuses that.
        """
        server = self._servers.get(opened)
        if not lines or server is None:
            return self.authority_of(opened)
        opened.sendall(self.request(*server, lines))
        authority = self._answer(opened)
        if authority is None:
            self._read.pop(opened, None)
        self.tell_unread(*server, lines, authority)
        return authority

    def tell_unread(self, host: str, port: int, lines: bytes, authority: bytes | None) -> None:
        """Write once to stderr that the proxy does not read a server's TLS, as ``lines`` wanted."""
        if not lines or authority is not None:
            return
        from trafficmock_preload.demanded_trust import (
            HTTP_2_ONLY,
            SERVER_HTTP_2_ONLY,
            why_alone,
        )

        why = why_alone(lines)
        if why == SERVER_HTTP_2_ONLY:
            why += " or asks for a client certificate, or --tunnel names it"
        if not why or (host, port, why) in self._told:
            return
        self._told.add((host, port, why))
        now = "" if why == HTTP_2_ONLY else " now"
        import sys

        sys.stderr.write(
            f"trafficmock: {host}:{port} is not read, because {why}: no test sees its "
            f"requests{now}. The history shows each connection as CONNECT.\n"
        )

    def unreachable(self, error: OSError) -> OSError:
        """Make an error of the same type whose text says that the proxy cannot be reached."""
        if self.settings is None:
            return error
        return _of_same_kind(error, self.not_reached(error.strerror or error))

    def not_reached(self, why: object) -> str:
        """Write the text of that error."""
        return f"{self.name} cannot be reached ({why}). {_WITHOUT_PROXY}"

    def closed(self) -> OSError:
        """Make the error for a connection that the proxy closed before it opened the tunnel."""
        return ConnectionResetError(errno.ECONNRESET, f"{self.name} closed the connection")

    def has_ended(self) -> bool:
        """Return whether the proxy has ended, so that a closed connection is not the server's.

        While a process ends, connections to it may still be made, but are not answered.
        """
        import socket
        from contextlib import closing

        try:
            opened = socket.create_connection(self.proxy(), _ASK_SECONDS)
            with closing(opened):
                opened.sendall(self.request(*_NOWHERE, b"Trafficmock-Notice: tests\r\n"))
                return not opened.recv(MOST_BYTES)
        except TimeoutError:
            return False
        except OSError as error:
            # Before Python 3.10 a timeout of a socket is a class of its own.
            return not isinstance(error, socket.timeout)

    @property
    def unanswered(self) -> str:
        """The text of the error for a request in a tunnel that the proxy closed."""
        return f"{self.name} closed the connection without an answer. {_ENDED}"

    def lost(self, error: OSError) -> OSError:
        """Make an error of the same type for a tunnel that is lost because the proxy has ended."""
        return _of_same_kind(error, self.unanswered)

    def mark(self, opened: Any, authority: bytes | None) -> None:
        """Remember the authority of a tunnel that the proxy reads."""
        if authority is not None:
            self._read[opened] = authority

    def keep_own(self, certificate: bytes) -> None:
        """Remember a certificate of the proxy, in DER, for a client that pins another one."""
        if len(self._own) >= _MOST_OWN:
            self._own.clear()
        self._own.add(certificate)

    def is_own(self, certificate: bytes) -> bool:
        """Return whether the proxy made a certificate."""
        return certificate in self._own

    def authority_of(self, opened: Any) -> bytes | None:
        """Return the authority of a tunnel that the proxy reads; ``None`` for other connections."""
        return None if opened is None else self._read.get(opened)


def _nothing(host: str, port: int) -> None:
    """Tell nobody of an ignored host."""


def _nobody(wanted: bool) -> None:
    """Ask nobody where requests come from."""


class TunnelAnswer:
    """Parses the answer to a ``CONNECT``.

    :ivar authority: the proxy's authority in DER; ``None`` if the proxy does not read the tunnel.
    """

    def __init__(self, tunnels: Tunnels) -> None:
        self.authority: bytes | None = None
        self._tunnels = tunnels
        self._read = b""

    def add(self, data: bytes) -> bool:
        """Add bytes of the proxy.

        :param data: empty at the end of the connection.
        :returns: whether the tunnel is open.
        :raises OSError: if the proxy refuses the tunnel, or closed the connection.
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
    """Return the message of the proxy's error, else its status."""
    import json

    try:
        return str(json.loads(body)["message"])
    except (ValueError, TypeError, LookupError):
        return os.strerror(errno.EPROTO) if status == 0 else f"status {status}"
