"""Reads the answers of a route when it is registered."""

from __future__ import annotations

from msgspec import UNSET, structs

from trafficmock.core import error_messages
from trafficmock.core.answers import response_rules
from trafficmock.core.answers.answer_reading import AnswerReader
from trafficmock.core.answers.kept_answers import KeptAnswers
from trafficmock.core.har.har_lookup import HarLookup
from trafficmock.core.har.match_rules import MatchRuleError
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.har_recording import HarRecording
from trafficmock.core.state.peers import Worker
from trafficmock.wire.features import CHAIN
from trafficmock.wire.inbound import RouteRegister
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Abort, Fulfill

_ANSWER_SIZE, _PIECE_SIZE = 200, 8
"""What an answer of several and one of its pieces count for in ``--reply-bytes``."""


class BadAnswerError(ValueError):
    """A route cannot have these answers; the message is the reason."""


def read_answers(state: SharedState, worker: Worker, message: RouteRegister) -> KeptAnswers | None:
    """Return the answers of a route that is being registered.

    :returns: ``None`` for a route whose requests a handler answers.
    :raises WrongOptionError: for options that the test has written wrongly.
    :raises BadAnswerError: for an answer that is no valid HTTP response, for answers that exceed
        ``--reply-bytes``, and for those of a route for WebSockets.
    """
    if message.stream is not UNSET:
        AnswerReader(worker.language).check_head(message.stream)
    given, har, recorded = message.options, message.har, message.record
    if CHAIN not in worker.features or all(each is UNSET for each in (given, har, recorded)):
        return None
    if message.kind != "http":
        raise BadAnswerError("only a route for HTTP requests has one")
    if given is not UNSET:
        kept = _kept_answers(AnswerReader(worker.language).answers(given))
    elif recorded is not UNSET:
        kept = KeptAnswers(recording=HarRecording(recorded))
    elif har is not UNSET:
        try:
            lookup = HarLookup.of(har)
        except MatchRuleError as error:
            raise BadAnswerError(str(error)) from None
        kept = KeptAnswers(har=lookup, size=lookup.size)
    limit, used = state.settings.reply_bytes, state.registry.reply_bytes
    if limit and used + kept.size > limit:
        what = "its answer" if har is UNSET else f"the HAR {har.name}"
        raise BadAnswerError(error_messages.no_room_for_reply(what, kept.size, used, limit))
    return kept


def _kept_answers(given: list[Fulfill | Abort]) -> KeptAnswers:
    kept: list[Fulfill | Abort] = []
    for number, answer in enumerate(given, 1):
        try:
            kept.append(_kept(answer) if isinstance(answer, Fulfill) else answer)
        except response_rules.UnsendableMockError as error:
            where = f"answer {number} of its sequence: " if len(given) > 1 else ""
            raise BadAnswerError(f"{where}{error}") from error
    extra = _ANSWER_SIZE * len(kept) if len(kept) > 1 else 0
    return KeptAnswers(tuple(kept), size=extra + sum(map(_size, kept)))


def _kept(answer: Fulfill) -> Fulfill:
    """Return a mock as it is kept: corrected, and without the message that it came in.

    :raises UnsendableMockError: it is no valid HTTP response.
    """
    response = response_rules.sendable_response(answer.response)
    lone = body.alone(response.body_base64)
    return structs.replace(answer, response=structs.replace(response, body_base64=lone))


def _size(answer: Fulfill | Abort) -> int:
    """Return the size of an answer in characters: its body as base64, headers and pieces."""
    if isinstance(answer, Abort):
        return 0
    response, pieces = answer.response, answer.pieces or ()
    pairs = () if response.headers_list is UNSET else response.headers_list
    headers = (*response.headers.items(), *pairs)
    size = body.letters(response.body_base64) + sum(len(n) + len(v) for n, v in headers)
    return size + _PIECE_SIZE * len(pieces)
