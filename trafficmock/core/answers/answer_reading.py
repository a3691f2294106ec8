"""Reads the options of answers as tests write them (``wire/payloads/answer_options``).

An option stands in one function here: :meth:`AnswerReader._read_how` has those that say how an
answer comes, :meth:`AnswerReader._response` those of a response (Playwright's rules).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, get_args, get_type_hints

import msgspec
from attrs import frozen
from msgspec import UNSET, Raw, UnsetType

from trafficmock.core.answers.languages import Language, WrongOptionError
from trafficmock.core.answers.response_rules import NO_TRAILERS
from trafficmock.wire.codec import is_plain
from trafficmock.wire.http_syntax import BAD_VALUE, TOKEN, lower_case, on_wire
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.abort_codes import PLAYWRIGHT_CODES
from trafficmock.wire.payloads.answer import (
    Abort,
    AbortCode,
    Continue,
    Fault,
    FaultKind,
    Fulfill,
    Piece,
    Written,
)
from trafficmock.wire.payloads.answer_options import (
    AnswerOptions,
    Foreign,
    WrittenOptions,
    options_of,
)
from trafficmock.wire.payloads.numbers import SAFE_INTEGER
from trafficmock.wire.payloads.serialized_request import HeaderPairs
from trafficmock.wire.payloads.serialized_response import FINAL_STATUSES, SerializedResponse
from trafficmock.wire.reason_phrases import phrase_of

_TYPES = get_type_hints(AnswerOptions)
_STEP = tuple(options_of("step"))
_NAMES = {
    "mock": (*options_of("mock"), "times", "required"),
    "stream": (*options_of("stream"), "required"),
    "route.fulfill": tuple(options_of("fulfill")),
    "route.stream": tuple(options_of("stream")),
    "route.continue": ("url", "method", "headers", "post_data", *options_of("continue")),
    "route.abort": tuple(options_of("abort")),
}
"""The options of each call, with those that are not sent with the options of the answer."""

_STATUS_TEXT = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
"""The reason phrase of a status line, as latin-1 (RFC 9112, section 4)."""

_JSON = "application/json"
_LENGTH = "content-length"


@frozen
class AnswerReader:
    """Reads the options of answers in the spelling of one language."""

    language: Language

    def answers(self, written: WrittenOptions) -> list[Fulfill | Abort]:
        """Return the answers of a mock, which are given one after the other.

        The URL of a response is unset: it is that of each request.

        :raises WrongOptionError: an option is wrong; for a sequence, the error has its number.
        """
        self._check_names("mock: ", written, _NAMES["mock"])
        sequence = written.get("sequence")
        if sequence is None:
            return [self._answer(self._options(written))]
        delay = {name: value for name, value in written.items() if name == "delay"}
        if len(written) > len(delay) + 1:
            raise WrongOptionError(
                "with sequence, each answer has its own status, headers and body"
            )
        try:
            steps = msgspec.json.decode(sequence, type=list[Raw])
        except msgspec.MsgspecError:
            steps = []
        if not steps:
            example = f"[503, {self.language.step}]"
            self._refuse(f"sequence is a list of answers, such as {example}", _value(sequence))
        answers = []
        for number, step in enumerate(steps, 1):
            try:
                answers.append(self._answer(self._options(delay | self._step(step))))
            except WrongOptionError as error:
                raise WrongOptionError(f"answer {number} of the sequence: {error}") from None
        return answers

    def check_head(self, written: WrittenOptions) -> None:
        """Check the options of a stream that a route will begin."""
        self._check_names("stream: ", written, _NAMES["stream"])
        self._response(self._options(written))

    def decision(self, made: Written) -> Fulfill | Continue | Abort:
        """Return the answer of a handler; its response has the URL of a response it is made from.

        :raises WrongOptionError: an option is wrong.
        """
        call = f"route.{made.call}"
        names = [name for name in made.options if name != "abort" or made.call != "abort"]
        if made.call == "stream":
            self._check_parts(names)
        self._check_names(f"{call}: ", names, _NAMES[call])
        given = self._options(made.options)
        if made.call == "continue":
            return Continue(overrides=made.overrides, **self._read_how(given))
        if made.call == "stream":
            return Fulfill(self._response(given), stream=True)
        return self._answer(given)

    def _check_parts(self, names: Iterable[str]) -> None:
        """Refuse options of whole answers for one that comes in parts."""
        spell = self.language.spell
        whole = [spell(each) for each in options_of("fulfill") if each not in options_of("stream")]
        beside = [each for each in names if each in whole]
        if {"fault", "after"}.intersection(beside):
            raise WrongOptionError("an answer in parts breaks by stream.abort(), not by a fault")
        if beside:
            raise WrongOptionError(f"an answer in parts has no {beside[0]}")

    def _step(self, step: Raw) -> WrittenOptions:
        """Return the options of one answer of a sequence, which may be a status alone."""
        written = msgspec.json.decode(step, type=dict[str, Raw]) if _begins(step, b"{") else {}
        if not _begins(step, b"{") or written.keys() == {"foreign"}:
            value = _value(step)
            if isinstance(value, int) and not isinstance(value, bool):
                return {"status": step}
            self._refuse(f"a status or an object such as {self.language.step} is expected", value)
        self._check_names("", written, _STEP)
        beside = [each for each in written if each not in {"abort", "delay"}]
        if "abort" in written and beside:
            raise WrongOptionError(f"abort is a failure and has no {beside[0]}")
        return written

    def _check_names(self, call: str, written: Iterable[str], known: tuple[str, ...]) -> None:
        spell = self.language.spell
        try:
            self.language.check_known("options", written, map(spell, known), call)
        except WrongOptionError as error:
            filters = {"method", spell("client_id")}.intersection(written)
            hint = "; filters stand beside the url" if filters else ""
            raise WrongOptionError(f"{error}{hint}") from None

    def _options(self, written: WrittenOptions) -> AnswerOptions:
        """Decode options; bodies stay as they came."""
        try:
            return self._decoded(written)
        except msgspec.MsgspecError as error:
            raise WrongOptionError(f"an option cannot be read: {error}") from None

    def _decoded(self, written: WrittenOptions) -> AnswerOptions:
        options: dict[str, Any] = {}
        for name, type_ in _TYPES.items():
            raw = written.get(self.language.spell(name))
            if raw is None:
                continue
            if _begins(raw, b"null"):
                if type_ is Any and (name == "abort" or not self.language.null_is_absent):
                    options[name] = None
            elif type_ is Any:
                options[name] = _value(raw)
            elif type_ is not Raw:
                options[name] = msgspec.json.decode(raw, type=type_)
            elif is_plain(raw):
                options[name] = raw
            else:
                raise WrongOptionError(f"{name} is no base64")
        return AnswerOptions(**options)

    def _answer(self, given: AnswerOptions) -> Fulfill | Abort:
        if given.abort is not UNSET:
            return Abort(self._abort_code(given.abort), delay_ms=self._delay(given.delay))
        if given.chunks is UNSET:
            return Fulfill(self._response(given), **self._read_how(given))
        if given.path or given.fault is not UNSET or _is_given(given.body) or _is_given(given.json):
            raise WrongOptionError("chunks exclude body, json, path and fault")
        if given.rate is not UNSET:
            raise WrongOptionError("rate excludes chunks and fault")
        contents = [content for content in map(body.to_bytes, given.chunks or ()) if content]
        whole = body.from_bytes(b"".join(contents))
        between = self._read_how(given)["delay_ms"] or 0
        pieces: list[Piece] = [
            (between if index else 0, len(content)) for index, content in enumerate(contents)
        ]
        response = self._response(msgspec.structs.replace(given, body=whole))
        return Fulfill(response, pieces=pieces)

    # How an answer comes

    def _read_how(self, given: AnswerOptions) -> Mapping[str, Any]:
        """Read the options that say how an answer comes, also a real one.

        :returns: fields of :class:`.Fulfill` and :class:`.Continue`.
        :raises WrongOptionError: one of them is invalid, or they exclude each other.
        """
        fault, rate = self._fault(given.fault, given.after), given.rate
        if rate is not UNSET and fault is not UNSET:
            raise WrongOptionError("rate excludes fault")
        if rate is not UNSET and not (_is_count(rate) and rate):
            self._refuse("rate is a number of bytes in a second, 1 or more", rate)
        return {"delay_ms": self._delay(given.delay), "fault": fault, "rate": rate}

    def _delay(self, delay: Any) -> int | UnsetType:
        """Return a delay in whole milliseconds; ``UNSET`` without one."""
        given = 0 if delay is UNSET else delay
        is_number = isinstance(given, int | float) and not isinstance(given, bool)
        if not is_number or not 0 <= given <= SAFE_INTEGER:
            self._refuse(f"delay is {self.language.duration}, 0 or more", given)
        return math.ceil(given) or UNSET

    def _fault(self, kind: Any, after: Any) -> Fault | UnsetType:
        if isinstance(kind, UnsetType):
            if isinstance(after, UnsetType):
                return UNSET
            raise WrongOptionError(
                "after is the number of bytes before a fault, and there is no fault"
            )
        self.language.check_known("faults", [kind], get_args(FaultKind), "fault: ")
        fault = Fault(kind, after)
        if after is not UNSET and kind == "empty_response":
            raise WrongOptionError(
                "empty_response has no body, so nothing comes after a part of it"
            )
        if after is not UNSET and not _is_count(after):
            self._refuse("after is a number of bytes, 0 or more", after)
        return fault

    def _abort_code(self, code: Any) -> AbortCode:
        """Return the code of protocol 3 for one of Playwright's.

        :raises WrongOptionError: it is not a key of :data:`PLAYWRIGHT_CODES`.
        """
        self.language.check_known("error codes of Playwright", [code], PLAYWRIGHT_CODES, "abort: ")
        return PLAYWRIGHT_CODES[code]

    # Responses

    def _response(self, given: AnswerOptions) -> SerializedResponse:
        """Return the response that options describe; without a URL unless ``response`` has one."""
        base, content = given.response or None, self._content(given)
        shown = base.body_base64 if content is None and base is not None else content
        headers, headers_list = on_wire(self._headers(given, content, shown))
        is_inherited = base is not None and (given.status is UNSET or given.status is None)
        # In Playwright, 0 counts as no status.
        status = (base.status if base is not None and is_inherited else given.status) or 200
        if not isinstance(status, int) or status not in FINAL_STATUSES:
            self._refuse("status must be an integer from 200 to 999", status)
        inherited = base.status_text if base is not None and base.status == status else ""
        text = given.status_text or inherited or phrase_of(status)
        if not isinstance(text, str) or not _STATUS_TEXT.fullmatch(text):
            what = "must be text without control characters, within latin-1"
            self._refuse(f"{self.language.spell('status_text')} {what}", text)
        return SerializedResponse(
            status=status,
            status_text=text,
            headers=headers,
            body_base64=body.NULL if shown is None or body.is_empty(shown) else shown,
            url=UNSET if base is None else base.url,
            headers_list=headers_list,
            trailers=self._trailers(given, content),
        )

    def _content(self, given: AnswerOptions) -> body.MessageBody | None:
        """Return the new body; ``None`` without one."""
        if _is_given(given.body) and _is_given(given.json):
            raise WrongOptionError("can specify either body or json parameters")
        if given.path:
            return given.path.content
        return next(filter(_is_given, (given.json, given.body)), None)

    def _headers(
        self,
        given: AnswerOptions,
        content: body.MessageBody | None,
        shown: body.MessageBody | None,
    ) -> HeaderPairs:
        """Return the headers of a response with the body ``shown``, new if it is ``content``."""
        pairs: HeaderPairs = []
        lines = given.headers
        if not isinstance(lines, list):
            base = given.response
            lines = lower_case(base.headers, base.headers_list) if base else []
            lines = [pair for pair in lines if content is None or pair[0] != _LENGTH]
        for name, value in lines:
            values = value.split("\n") if name == "set-cookie" else [value]
            pairs += [(name, each) for each in values if name != "transfer-encoding"]
        kind = given.content_type
        if kind is UNSET or kind is None:
            kind = _JSON if _is_given(given.json) else given.path.type if given.path else None
        elif not isinstance(kind, str):
            self._refuse(f"{self.language.spell('content_type')} must be text", kind)
        if kind is not None:
            pairs = [*(pair for pair in pairs if pair[0] != "content-type"), ("content-type", kind)]
        length = 0 if shown is None else body.size(shown)
        if length and all(name != _LENGTH for name, _ in pairs):
            pairs.append((_LENGTH, str(length)))
        for name, value in pairs:
            self._check_header(name, value)
        return pairs

    def _trailers(
        self, given: AnswerOptions, content: body.MessageBody | None
    ) -> HeaderPairs | UnsetType:
        """Return the trailers of a response; those of a fetched one may be about its body."""
        if not isinstance(given.trailers, list):
            return given.response.trailers if given.response and content is None else UNSET
        for name, value in given.trailers:
            self._check_header(name, value)
            if name.lower() in NO_TRAILERS:
                raise WrongOptionError(
                    f"trailers: {self.language.quoted(name)} is read before the body, so it cannot "
                    "follow it (RFC 9110 section 6.5.1)"
                )
        return given.trailers or UNSET

    def _check_header(self, name: str, value: str) -> None:
        if not TOKEN.fullmatch(name):
            raise WrongOptionError(f"{self.language.quoted(name)} is not a header name")
        if BAD_VALUE.search(value):
            raise WrongOptionError(
                f"the header {self.language.quoted(name)} has a line break, a NUL or a character "
                f"above U+00FF: {self.language.quoted(value)}"
            )

    def _refuse(self, wanted: str, value: object) -> NoReturn:
        raise WrongOptionError(f"{wanted}, not {self.language.shown(value)}")


def _value(raw: Raw) -> Any:
    """Decode a value that is no body."""
    try:
        value = msgspec.json.decode(raw)
    except msgspec.MsgspecError:
        # A lone surrogate, which JavaScript and Python have.
        value = json.loads(bytes(raw))
    is_foreign = isinstance(value, dict) and value.keys() == {"foreign"}
    return Foreign(value["foreign"]) if is_foreign else value


def _begins(raw: Raw, beginning: bytes) -> bool:
    return bytes(memoryview(raw)[: len(beginning)]) == beginning


def _is_given(content: body.MessageBody) -> bool:
    """Return whether a body is there; it may be empty."""
    return isinstance(content, bytes) or len(memoryview(content)) > 0


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= SAFE_INTEGER
