"""Enters namespaces without a network (unshare(2), user_namespaces(7), network_namespaces(7))."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
import sys
from pathlib import Path

from trafficmock.errors import LocalError

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 0x1
HOSTS = Path("/etc/hosts")

REFUSED = (
    "this system lets no ordinary process make namespaces ({why}), so the command cannot be "
    "sealed. Allow it (sysctl kernel.unprivileged_userns_clone=1; on Ubuntu "
    "kernel.apparmor_restrict_unprivileged_userns=0), or run the command in a container whose "
    "network is internal"
)


class SealError(LocalError):
    """The command cannot be sealed; the text says why, and what to do."""


def enter() -> None:
    """Move this process into a new user, network and mount namespace, with loopback alone.

    Its user and group stay the same. It must have no other thread.

    :raises SealError: the kernel refuses.
    """
    if sys.platform != "linux":
        return
    user, group = os.geteuid(), os.getegid()
    try:
        _call("unshare", CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS)
        # Without this the kernel lets nobody but root map a group.
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
        _call("mount", b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
        _start_loopback()
    except OSError as error:
        raise SealError(REFUSED.format(why=os.strerror(error.errno or errno.EPERM))) from error


def name_addresses(addresses: dict[str, str], directory: Path) -> None:
    """Have names resolve to addresses in the mount namespace, by a file over ``/etc/hosts``.

    :param addresses: the address of each name.
    :param directory: where the file is written; it must stay as long as the command runs.
    :raises SealError: the file cannot be mounted.
    """
    present = HOSTS.read_text(encoding="utf-8", errors="replace") if HOSTS.exists() else ""
    lines = "".join(f"{address} {name}\n" for name, address in addresses.items())
    own = directory / "hosts"
    own.write_text(lines + present, encoding="utf-8")
    try:
        _call("mount", bytes(own), bytes(HOSTS), None, _MS_BIND, None)
    except OSError as error:
        raise SealError(f"{HOSTS} cannot name the hosts of --reach: {error.strerror}") from error


def _start_loopback() -> None:
    if sys.platform != "linux":
        return
    import fcntl  # noqa: PLC0415 - Windows has no such module

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        # struct ifreq of netdevice(7): the interface's name, then its flags.
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))


def _call(name: str, *arguments: object) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
