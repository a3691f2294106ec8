"""Masks come off, natively or not."""

from importlib import util
from importlib.machinery import ModuleSpec

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.websocket import masking
from trafficmock.server.websocket.masking import (
    native_parts_missing,
    native_unmask,
    unmask,
    unmask_in_python,
)

MASKS = st.binary(min_size=4, max_size=4)


def plainly(payload: bytes, mask: bytes) -> bytes:
    return bytes(octet ^ mask[at % 4] for at, octet in enumerate(payload))


class UnmaskTests(SynchronousTestCase):
    """Each implementation does what RFC 6455 section 5.3 says."""

    @given(st.binary(max_size=300), MASKS)
    def test_python(self, payload: bytes, mask: bytes) -> None:
        """Without native parts the result is right."""
        self.assertEqual(unmask_in_python(bytearray(payload), mask), plainly(payload, mask))

    @given(st.binary(max_size=300), MASKS)
    def test_native(self, payload: bytes, mask: bytes) -> None:
        """With native parts the result is the same."""
        self.assertEqual(unmask(bytearray(payload), mask), plainly(payload, mask))


class MissingTests(SynchronousTestCase):
    """Autobahn may have been installed without its native parts."""

    def test_all_there(self) -> None:
        """Nothing is said when nothing is missing."""
        self.assertIsNone(native_parts_missing())
        self.assertIsNotNone(native_unmask())

    def test_missing(self) -> None:
        """What is missing is named, with what to do about it."""

        def find(name: str) -> ModuleSpec | None:
            return None if name == "_nvx_xormasker" else util.find_spec(name)

        self.patch(masking, "find_spec", find)
        text = native_parts_missing() or ""
        self.assertIn("(_nvx_xormasker)", text)
        self.assertIn("wheel", text)

    def test_no_native_unmask(self) -> None:
        """A native part that is not there, or not what we know, is done without."""
        for name in ("no_such_module", "json"):
            self.patch(masking, "_MASKER", name)
            self.assertIsNone(native_unmask())
