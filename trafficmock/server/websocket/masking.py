"""Unmasks the payload of clients' frames (RFC 6455 section 5.3), with Autobahn's native code."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

from wsproto.frame_protocol import XorMaskerSimple

_MASKER = "_nvx_xormasker"
_NATIVE_PARTS = (_MASKER, "_nvx_utf8validator")


def native_parts_missing() -> str | None:
    """Check that Autobahn was installed with its native parts.

    :returns: a sentence for the log that names the missing ones; ``None`` if there are none.
    """
    missing = [name for name in _NATIVE_PARTS if find_spec(name) is None]
    if not missing:
        return None
    return (
        f"Autobahn's native parts ({', '.join(missing)}) are missing: large messages will be "
        "slow. Install autobahn from a wheel, or with a C compiler at hand."
    )


def native_unmask() -> Callable[[bytearray, bytes], bytes] | None:
    """Return a function like :func:`unmask_in_python` that calls Autobahn's C code.

    It does without Autobahn's object for each message, which costs more than unmasking a small
    one.

    :returns: ``None`` if the native part is missing or has another interface.
    """
    try:
        native = import_module(_MASKER)
        new, process = native.lib.nvx_xormask_new, native.lib.nvx_xormask_process
        free, from_buffer = native.lib.nvx_xormask_free, native.ffi.from_buffer
    except (ImportError, AttributeError):
        return None

    def unmask_natively(payload: bytearray, mask: bytes) -> bytes:
        masker = new(mask)
        process(masker, from_buffer(payload), len(payload))
        free(masker)
        return bytes(payload)

    return unmask_natively


def unmask_in_python(payload: bytearray, mask: bytes) -> bytes:
    """Unmask a payload by wsproto's tables.

    :param payload: may be changed.
    :param mask: the four bytes of the mask.
    :returns: the unmasked payload.
    """
    return bytes(XorMaskerSimple(mask).process(payload))


unmask = native_unmask() or unmask_in_python
