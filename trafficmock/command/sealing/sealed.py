"""Seals this process: what it becomes reaches the proxy and named hosts, and nothing else."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from trafficmock.command.sealing import namespaces, relays
from trafficmock.command.sealing.namespaces import SealError
from trafficmock.command.sealing.relays import Relay

LOOPBACK = "127.0.0.1"
_OWN_ADDRESSES = "127.77.0.{}"
"""Loopback addresses of the names of ``--reach``, so that each name has all its ports."""

MOST_HOSTS = 254

AS_ROOT = (
    "this sealed command runs as root, who can change files of the system and of the kernel, and "
    "so can leave by them: seal commands of an ordinary user"
)

FILES_BY_NUMBER = (
    *("NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE", "NODE_UNIQUE_ID"),
    *("LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"),
)
"""Variables of the environment that name inherited files, which a sealed command has not."""

_FIRST_INHERITED = 3
_PROBE_SECONDS = 10


@frozen
class Place:
    """A host and a port that the command may connect to."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Place:
        """Read a value of ``--reach``.

        :raises SealError: it is not HOST:PORT, or the host is an address outside loopback.
        """
        host, _, port = text.rpartition(":")
        host = host.strip("[]").lower()
        if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 2**16:
            raise SealError(f"--reach {text}: give it as HOST:PORT, such as db.internal:5432")
        if _is_address(host) and not _is_loopback(host):
            raise SealError(
                f"--reach {text}: a sealed command finds hosts by their names; give the name, "
                "from the DNS or /etc/hosts"
            )
        return cls(host, int(port))


def seal(proxy: Place, reached: Sequence[Place], published: Sequence[int]) -> None:
    """Enter the namespaces, and start the processes that pass connections on.

    :param proxy: the proxy, on loopback or with a name.
    :param reached: other servers that the command may connect to.
    :param published: ports of the command that can be reached from outside, on loopback.
    :raises SealError: the kernel refuses, a port is taken, or there are too many names.
    """
    _check_platform()
    if sys.platform != "linux":
        return
    outside = [_listener(LOOPBACK, port) for port in published]
    ours, theirs = socket.socketpair()
    command = os.getpid()
    child = os.fork()
    if not child:
        # With its own copy of this end, it would never see that this process has failed.
        ours.close()
        _relay_outwards(theirs, [proxy, *reached], command)
    theirs.close()
    os.waitpid(child, 0)
    namespaces.enter()
    places = list(dict.fromkeys([proxy, *reached]))
    addresses = _addresses(places)
    if addresses:
        # The mount keeps the file when its name and its directory go.
        with tempfile.TemporaryDirectory(prefix="trafficmock-sealed-") as directory:
            namespaces.name_addresses(addresses, Path(directory))
    inside = [_listener(_inside(place.host, addresses), place.port) for place in places]
    socket.send_fds(ours, [b"listeners"], [each.fileno() for each in inside])
    ours.close()
    inwards = zip(outside, published, strict=True)
    relays.start([Relay(listener, LOOPBACK, port) for listener, port in inwards], command)
    for each in (*inside, *outside):
        each.close()
    # A socket that the caller had open would be a way out.
    os.closerange(_FIRST_INHERITED, os.sysconf("SC_OPEN_MAX"))


def first_line(reached: Sequence[Place]) -> bytes:
    """Return what tells the proxy that a connection is a sealed command's, and what it reaches."""
    hosts = [f"[{each.host}]" if ":" in each.host else each.host for each in reached]
    named = ",".join(f"{host}:{place.port}" for host, place in zip(hosts, reached, strict=True))
    return f"TRAFFICMOCK-SEALED {named}\r\n".encode("ascii", "replace")


def check_proxy(proxy: Place, reached: Sequence[Place]) -> None:
    """Ask the proxy whether it knows sealed commands.

    :raises SealError: it does not, or this is no Linux.
    """
    _check_platform()
    asked = first_line(reached) + b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    try:
        with socket.create_connection((proxy.host, proxy.port), timeout=_PROBE_SECONDS) as probe:
            probe.sendall(asked)
            answer = probe.recv(32)
    except OSError as error:
        raise SealError(f"the proxy does not answer: {error.strerror or error}") from error
    if not answer.startswith(b"HTTP/1.1 200"):
        raise SealError(
            "this proxy does not know sealed commands, and would let the command reach the servers "
            "of its machine: start a proxy of this version"
        )


def _check_platform() -> None:
    if sys.platform != "linux":
        raise SealError("--sealed needs the namespaces of Linux; there are none here")


def root_note() -> str:
    """Return what to say of a command that is root; empty for others."""
    return AS_ROOT if sys.platform == "linux" and os.geteuid() == 0 else ""


def _relay_outwards(ours: socket.socket, places: Sequence[Place], command: int) -> None:
    """Wait in a process outside for the sockets that listen inside, and pass on from them."""
    if sys.platform != "linux":
        return
    try:
        if os.fork():
            os._exit(0)
        targets = list(dict.fromkeys(places))
        _, numbers, _, _ = socket.recv_fds(ours, 64, len(targets))
        listeners = [socket.socket(fileno=number) for number in numbers]
        proxy = targets[0]
        line = first_line(targets[1:])
        made = [
            Relay(each, place.host, place.port, line if _is_same(place, proxy) else b"")
            for each, place in zip(listeners, targets, strict=False)
        ]
        relays.start(made, command)
    finally:
        os._exit(0)


def _is_same(place: Place, proxy: Place) -> bool:
    """Return whether a place is the proxy, perhaps by another name of loopback."""
    both = _is_loopback(place.host) and _is_loopback(proxy.host)
    return place.port == proxy.port and (both or place.host == proxy.host)


def _addresses(places: Sequence[Place]) -> dict[str, str]:
    """Return an address inside for each name."""
    names = dict.fromkeys(place.host for place in places if not _is_loopback(place.host))
    if len(names) > MOST_HOSTS:
        raise SealError(f"--reach takes {MOST_HOSTS} different hosts, not {len(names)}")
    return {name: _OWN_ADDRESSES.format(number) for number, name in enumerate(names, 1)}


def _inside(host: str, addresses: dict[str, str]) -> str:
    """Return the address at which the command finds a host."""
    return host if _is_address(host) else addresses.get(host, LOOPBACK)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    if _is_address(host):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def _listener(address: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return socket.create_server((address, port), family=family)
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise SealError(f"cannot listen on {address}:{port}: {why}") from error
