"""Tests for :mod:`benchmarks.commands.calls`."""

import sys

from twisted.trial.unittest import SynchronousTestCase

from benchmarks.commands.calls import CallRecorder
from trafficmock.matching.url_parts import shown_url, url_parts

OWN = "matching/url_parts.py"


class CallRecorderTests(SynchronousTestCase):
    """Trips, and the calls in them."""

    def recorded(self, recorder: CallRecorder) -> None:
        """Call functions of the product, some within others'."""
        kept = sys.getprofile()
        sys.setprofile(recorder)
        try:
            shown_url("http://shop.test/", 80)
            len("not the product's")
            url_parts("http://shop.test/a")
        finally:
            sys.setprofile(kept)

    def test_trips(self) -> None:
        """A trip begins where no function of the product runs, and has those it calls."""
        recorder = CallRecorder(is_on=True)
        self.recorded(recorder)
        first, second = recorder.taken()
        self.assertEqual(first.calls[0], (OWN, "shown_url"))
        self.assertEqual(second.calls[0], (OWN, "url_parts"))
        self.assertEqual((second.files, second.moves), (1, 0))
        self.assertEqual(recorder.taken(), [])

    def test_off(self) -> None:
        """Nothing is noted while the recorder is off."""
        recorder = CallRecorder()
        self.recorded(recorder)
        self.assertEqual(recorder.taken(), [])
