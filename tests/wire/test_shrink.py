"""The smaller form of messages that are too large, for any texts and bodies."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.wire import inbound, outbound
from trafficmock.wire.codec import encode
from trafficmock.wire.outbound import TestWarning
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse
from trafficmock.wire.shrink import MAX_TEXT, shrink, too_large

PROBLEM = too_large(123, 100)
TEXTS = st.text(max_size=20).map(lambda text: text * 400)
BODIES = st.binary(max_size=5000).map(body.from_bytes)
HEADERS = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2)
REQUESTS = st.builds(SerializedRequest, TEXTS, st.just("POST"), HEADERS, BODIES)
RESPONSES = st.builds(SerializedResponse, st.integers(200, 599), st.just("OK"), HEADERS, BODIES)
ERRORS = st.builds(SerializedError, st.just("Error"), TEXTS)
NEWS: st.SearchStrategy[Any] = st.one_of(
    st.builds(outbound.RequestObserved, st.just("r"), REQUESTS, st.just("app")),
    st.builds(outbound.RequestClaim, st.just("r"), REQUESTS, st.just("app")),
    st.builds(inbound.RequestResponse, st.just("r"), st.booleans(), RESPONSES, ERRORS),
)
ANSWERS: st.SearchStrategy[Any] = st.one_of(
    st.builds(outbound.DecisionFulfill, st.just("r"), RESPONSES),
    st.builds(outbound.FetchDone, st.just("r"), st.just("f"), st.just(value=True), RESPONSES),
    st.builds(outbound.DecisionAbort, st.just("r"), st.just("failed"), TEXTS),
    st.builds(outbound.DecisionError, st.just("r"), st.just("internal"), TEXTS),
    st.builds(outbound.ProxyError, st.just("internal"), TEXTS),
    st.builds(TestWarning, st.just("t"), st.just("mixed_context"), TEXTS),
)
STATEFUL: st.SearchStrategy[Any] = st.one_of(
    st.builds(outbound.DecisionContinue, st.just("r")),
    st.builds(outbound.DecisionPassthrough, st.just("r")),
    st.builds(
        outbound.RequestMatched, st.just("r"), REQUESTS, st.just("a"), st.just("1"), st.just("t")
    ),
)


class ShrinkTests(SynchronousTestCase):
    """What goes in the place of a message that no client takes."""

    @profile(100)
    @given(st.one_of(NEWS, ANSWERS))
    def test_once(self, message: Any) -> None:
        """There is one smaller form: it has none of its own."""
        smaller = shrink(message, PROBLEM)
        if smaller is not None:
            self.assertIsNone(shrink(smaller, PROBLEM))

    @profile(100)
    @given(NEWS)
    def test_bodies_go(self, message: Any) -> None:
        """What observers get loses its body, and an error all but the beginning of its text."""
        smaller: Any = shrink(message, PROBLEM) or message
        holder: Any = getattr(smaller, "request", UNSET) or getattr(smaller, "response", UNSET)
        self.assertEqual(holder.body_base64, body.NULL)
        self.assertLessEqual(len(encode(smaller)), len(encode(message)))
        if isinstance(smaller, inbound.RequestResponse) and smaller.error is not UNSET:
            self.assertLessEqual(len(smaller.error.message), MAX_TEXT)

    @profile(100)
    @given(ANSWERS)
    def test_answers_stay(self, message: Any) -> None:
        """An answer stays an answer to the same request, with a bounded text."""
        smaller: Any = shrink(message, PROBLEM) or message
        self.assertEqual(getattr(smaller, "request_id", "r"), "r")
        self.assertLess(len(encode(smaller)), 7 * MAX_TEXT)

    @profile(20)
    @given(STATEFUL)
    def test_no_smaller_form(self, message: Any) -> None:
        """What the core must settle in another way has none."""
        self.assertIsNone(shrink(message, PROBLEM))
