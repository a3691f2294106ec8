"""Bodies that are cut: what is kept, what is told, and how much an agent may send."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import response
from tests.support.playbook import SETTINGS
from trafficmock.core.http.deferred_bodies import body_limits, clipped, for_workers
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.welcome import BodyLimits

MIB = 2**20


class ClippedTests(SynchronousTestCase):
    """Cutting a body."""

    @given(st.binary(max_size=50), st.integers(0, 60))
    def test_anything(self, content: bytes, limit: int) -> None:
        """What is kept is the beginning, within the limit; the mark tells the true size."""
        whole = response(200, content)
        cut = clipped(whole, limit)
        kept = body.to_bytes(cut.body_base64)
        if not limit or len(content) <= limit:
            self.assertIs(cut, whole)
        else:
            self.assertTrue(content.startswith(kept))
            self.assertTrue(limit - 3 < len(kept) <= limit)
            self.assertEqual((cut.truncated, cut.body_size), (True, len(content)))

    def test_for_workers(self) -> None:
        """Tests are told nothing of a body that is not whole, but for its size."""
        told = for_workers(clipped(response(200, b"0123456789"), 6))
        self.assertEqual((told.truncated, told.body_size), (True, 10))
        self.assertTrue(body.is_empty(told.body_base64))
        whole = response(200, b"0123456789")
        self.assertIs(for_workers(whole), whole)
        self.assertIs(whole.truncated, UNSET)


class LimitTests(SynchronousTestCase):
    """What an agent is told of limits."""

    def test_options(self) -> None:
        """The limits are the options'; where these set none, what a message can carry."""
        told = body_limits(SETTINGS)
        self.assertEqual(told, BodyLimits(8 * MIB, 64 * MIB))
        none = body_limits(evolve(SETTINGS, history_body_bytes=0, handler_body_bytes=0))
        self.assertEqual(none, BodyLimits(99 * MIB // 4 * 3, 99 * MIB // 4 * 3))

    def test_short_messages(self) -> None:
        """No body is asked for that makes a message longer than those that are taken."""
        told = body_limits(evolve(SETTINGS, frame_bytes=1000))
        self.assertEqual(told, BodyLimits(375, 375))
