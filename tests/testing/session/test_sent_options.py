"""The options of answers as Python tests write them, up to what the coordinator makes of them."""

import enum
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from tests.testing.fakes import request, response
from trafficmock.core.answers.answer_reading import AnswerReader
from trafficmock.core.answers.languages import PYTHON, WrongOptionError
from trafficmock.core.answers.response_rules import sendable_response
from trafficmock.testing.errors import UsageError
from trafficmock.testing.objects.sent_options import sent_arguments
from trafficmock.testing.session.observation.request_state import ResponseState
from trafficmock.testing.session.observation.traffic import ObservedTraffic
from trafficmock.wire.codec import decode, encode
from trafficmock.wire.inbound import HandlerResult
from trafficmock.wire.outbound import RequestObserved
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Fulfill, Written


def fulfil(**given: Any) -> Fulfill:
    """Make the answer of ``fulfill`` with these arguments."""
    message = encode(HandlerResult("r1", Written("fulfill", sent_arguments("fulfill", given)), "1"))
    read = AnswerReader(PYTHON).decision(cast("Any", decode(message)).result)
    assert isinstance(read, Fulfill)
    return read


class ResponseTests(SynchronousTestCase):
    """The response that ``fulfill`` makes from its arguments."""

    def test_statuses(self) -> None:
        """0 is 200; what is no status is refused."""
        self.assertEqual(fulfil(status=0).response.status, 200)
        self.assertEqual(fulfil(status=HTTPStatus.NOT_FOUND).response.status, 404)
        for wrong in (1000, -1, 2.5, 100, 199, True, 2**70):
            with self.assertRaisesRegex(WrongOptionError, "status must be .* not "):
                fulfil(status=wrong)

    def test_status_texts(self) -> None:
        """The text is the one given, else the response's with its status, else the status's."""
        asked = request()
        state = ObservedTraffic().observe(RequestObserved("r1", asked, "app"))
        for text in ("Fine", ""):
            wire = structs.replace(response(), status_text=text)
            given = Given(ResponseState(state, wire))
            made = fulfil(response=given).response
            self.assertEqual((made.status_text, made.url), (text or "OK", asked.url))
            for status, expected in ((200, text or "OK"), (404, "Not Found")):
                made = fulfil(response=given, status=status).response
                self.assertEqual(made.status_text, expected)
            made = fulfil(response=given, status_text="So").response
            self.assertEqual(made.status_text, "So")
        for status, expected in ((418, "I'm a Teapot"), (299, "")):
            self.assertEqual(fulfil(status=status).response.status_text, expected)
        self.assertEqual(fulfil(status_text="Tr\xe8s\tbien").response.status_text, "Tr\xe8s\tbien")

    @profile(100)
    @given(st.text(max_size=3) | st.binary(max_size=2) | st.integers())
    def test_any_status_text(self, text: Any) -> None:
        """What no status line can carry is refused; what is taken can be sent."""
        try:
            made = fulfil(status_text=text).response
        except WrongOptionError as error:
            self.assertIn("status_text must be text without control characters", str(error))
        else:
            self.assertIs(sendable_response(made), made)

    def test_based_on_a_response(self) -> None:
        """Its parts are used where no other argument gives them; a new body has a new length."""
        state = ObservedTraffic().observe(RequestObserved("r1", request(), "app"))
        wire = response(201, b"old", **{"X-A": "b", "Content-Length": "3"})
        given = Given(ResponseState(state, wire))
        kept = fulfil(response=given).response
        self.assertEqual((kept.status, body.to_bytes(kept.body_base64)), (201, b"old"))
        self.assertEqual(kept.headers, {"x-a": "b", "content-length": "3"})
        made = fulfil(response=given, body="newer").response
        self.assertEqual(made.headers, {"x-a": "b", "content-length": "5"})
        self.assertEqual(fulfil(response=given, headers={}).response.headers["content-length"], "3")
        given._state.disposed = True
        with self.assertRaisesRegex(UsageError, "disposed"):
            fulfil(response=given)

    def test_headers(self) -> None:
        """An explicit length is kept even if it is wrong; repeats are sent in full."""
        made = fulfil(headers={"Content-Length": "99"}, body="ab").response
        self.assertEqual(made.headers, {"content-length": "99"})
        made = fulfil(headers=[("set-cookie", "a=1"), ("Set-Cookie", "b=2")]).response
        self.assertEqual(made.headers_list, [("set-cookie", "a=1"), ("set-cookie", "b=2")])

    def test_files(self) -> None:
        """Files of unknown kind are bytes."""
        file = Path(self.mktemp() + ".unknown-kind")
        file.write_bytes(b"x")
        made = fulfil(path=file).response
        self.assertEqual(made.headers["content-type"], "application/octet-stream")


class Given:
    """A response as tests have it."""

    def __init__(self, state: ResponseState) -> None:
        self._state = state


class Colour(enum.Enum):
    """An enumeration that is no number."""

    RED = 200


class DelayTests(SynchronousTestCase):
    """``delay``."""

    def test_durations(self) -> None:
        """Milliseconds and durations are whole milliseconds, of which a part counts as one."""
        cases = ((2000, 2000), (0.25, 1), (timedelta(seconds=1.5), 1500))
        for value, expected in cases:
            self.assertEqual(fulfil(delay=value).delay_ms, expected)

    def test_none(self) -> None:
        """Nothing and 0 are no delay."""
        for value in (None, 0, 0.0, timedelta()):
            self.assertIs(fulfil(delay=value).delay_ms, UNSET)

    def test_refused(self) -> None:
        """What is no duration is refused, and so is one that is negative or without end."""
        wrong: tuple[Any, ...] = (
            *(-1, timedelta(seconds=-1), float("nan"), float("inf"), "1s", True, Colour.RED, [1]),
        )
        for value in wrong:
            error = self.assertRaises(WrongOptionError, fulfil, delay=value)
            self.assertIn(repr(value), str(error))
