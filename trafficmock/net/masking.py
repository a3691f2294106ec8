"""Takes the mask off what clients send (RFC 6455 section 5.3), with Autobahn's native code."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_FASTEST = 2
"""Autobahn's number for its vectorised implementation."""


def _native() -> Any:
    try:
        return import_module("_nvx_xormasker")
    except ImportError:
        return None


_nvx = _native()

_XOR_TABLES = [bytes(octet ^ key for octet in range(256)) for key in range(256)]


def native_parts_missing() -> str | None:
    """Tell what is missing when Autobahn was installed without its native parts.

    :returns: a sentence for the log, or nothing when all is there.
    """
    missing = [name for name in ("_nvx_xormasker", "_nvx_utf8validator") if not _can_import(name)]
    if not missing:
        return None
    return (
        f"Autobahn's native parts ({', '.join(missing)}) are missing: large messages will be "
        "slow. Install autobahn from a wheel, or with a C compiler at hand."
    )


def _can_import(name: str) -> bool:
    try:
        import_module(name)
    except ImportError:
        return False
    return True


def unmask_natively(payload: bytearray, mask: bytes) -> bytes:
    """Unmask in place with Autobahn's C code, without its object for each message.

    :param payload: is overwritten.
    :param mask: four bytes.
    :returns: the unmasked payload.
    """
    library = _nvx.lib
    masker = library.nvx_xormask_new(mask)
    library.nvx_xormask_set_impl(masker, _FASTEST)
    library.nvx_xormask_process(masker, _nvx.ffi.from_buffer(payload), len(payload))
    library.nvx_xormask_free(masker)
    return bytes(payload)


def unmask_in_python(payload: bytearray, mask: bytes) -> bytes:
    """Unmask every fourth byte at once, by table; as :func:`unmask_natively` otherwise."""
    for position, key in enumerate(mask):
        payload[position::4] = payload[position::4].translate(_XOR_TABLES[key])
    return bytes(payload)


unmask = unmask_in_python if _nvx is None else unmask_natively
