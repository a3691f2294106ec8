"""The answers of ``mock(url, sequence=…)``, which the proxy gives one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen
from msgspec import UNSET

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments.delays import read_delay
from trafficmock.testing.session.arguments.fault_options import read_fault
from trafficmock.testing.session.handlers.fixed_answer import FixedAnswer
from trafficmock.testing.session.handlers.mock_response import File, Mock
from trafficmock.testing.session.handlers.routed_request import abort_code
from trafficmock.wire.payloads.handler_action import Abort, SequenceStep

if TYPE_CHECKING:
    from trafficmock.testing.session.arguments.delays import Delay

_RESPONSE = ("status", "status_text", "headers", "body", "json", "path", "content_type")
_KEYS = (*_RESPONSE, "chunks", "abort", "fault", "after", "rate", "delay")


@frozen(eq=False, repr=False)
class AnswerSequence:
    """The answers of a mock that has several."""

    steps: list[SequenceStep]

    @classmethod
    def of(cls, given: Any, delay: Delay) -> AnswerSequence:
        """Read the argument ``sequence``.

        :param given: the answers: statuses, and mappings with the arguments of ``fulfill`` or with
            ``abort``, each also with ``delay``.
        :param delay: the delay of the answers that have none.
        :raises UsageError: an answer is invalid; the error has its number.
        """
        if not isinstance(given, Sequence) or isinstance(given, str | bytes) or not given:
            raise UsageError(
                "sequence is a list of answers, such as [503, 503, {'json': {'paid': True}}], "
                f"not {given!r}"
            )
        return cls([_read(each, number, delay) for number, each in enumerate(given, 1)])

    def __repr__(self) -> str:
        return f"of a mock with a sequence of {len(self.steps)} answers"


def _read(given: Any, number: int, delay: Delay) -> SequenceStep:
    try:
        return _step(given, delay)
    except UsageError as error:
        raise UsageError(f"answer {number} of the sequence: {error}") from None


def _step(given: Any, delay: Delay) -> SequenceStep:
    if isinstance(given, int) and not isinstance(given, bool):
        given = {"status": given}
    if not isinstance(given, Mapping):
        raise UsageError(f"a status or a dict such as {{'status': 503}} is expected, not {given!r}")
    _check_keys(given)
    delay_ms = read_delay(given.get("delay", delay))
    if "abort" in given:
        return SequenceStep(Abort(abort_code(given["abort"])), delay_ms)
    path = given.get("path")
    file = None if path is None else File(str(path), Path(path).read_bytes())
    arguments = {key: given[key] for key in _RESPONSE if key in given and key != "path"}
    answer = FixedAnswer.of(Mock(file=file, **arguments), given.get("chunks"))
    fault = read_fault(given.get("fault"), given.get("after"))
    return answer.step(delay_ms, fault, given.get("rate"))


def _check_keys(given: Mapping[Any, Any]) -> None:
    unknown = next((key for key in given if key not in _KEYS), UNSET)
    if unknown is not UNSET:
        near = get_close_matches(str(unknown), _KEYS, n=1)
        hint = f"did you mean {near[0]!r}? The keys" if near else "the keys"
        raise UsageError(f"{unknown!r} is unknown; {hint} are: {', '.join(_KEYS)}")
    beside = [key for key in (*_RESPONSE, "chunks", "fault", "after", "rate") if key in given]
    if "abort" in given and beside:
        raise UsageError(f"abort is a failure and has no {beside[0]}")
