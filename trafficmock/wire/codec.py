"""Decodes and encodes messages.

msgspec decodes most messages. Legal but unusual JSON that it refuses is decoded by :mod:`json`.
"""

import json
from collections.abc import Callable, Iterable
from functools import partial
from math import inf
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import Raw, Struct

from trafficmock.wire.client_message import ClientMessage
from trafficmock.wire.inbound import (
    FetchResult,
    HandlerResult,
    Message,
    ReportMake,
    RequestBody,
    RequestObserve,
    RequestResponse,
    RequestStart,
    StreamData,
)
from trafficmock.wire.invalid_message import HEAD_BYTES, IDS, InvalidMessageError, named_in
from trafficmock.wire.local_reports import Batch, RequestPassed
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Continue, Fallback, Fulfill, Written
from trafficmock.wire.payloads.answer import Fetch as FetchAction

__all__ = ["InvalidMessageError", "decode", "encode", "is_plain", "to_plain"]

_decoder: msgspec.json.Decoder[ClientMessage] = msgspec.json.Decoder(ClientMessage)


def _exact(value: object, written: Callable[[str], str] = str.__str__) -> object:
    """Convert an instance of a subclass of ``str`` or ``int``, which msgspec does not encode.

    :param written: converts those of ``str``.
    :raises TypeError: for any other value.
    """
    if isinstance(value, str):
        return written(value)
    if isinstance(value, int):
        return int(value)
    raise TypeError(f"{type(value).__name__} cannot be written")


_BODY_KEY = "bodyBase64"
_BODY_PARENTS = ("request", "response", "overrides")
_NOT_BASE64 = bytes(
    code for code in range(128) if not chr(code).isalnum() and chr(code) not in "+/=-_"
)
_LONGEST_INTEGER = 4000
"""Digits of the longest integer; :func:`int` refuses more than 4,300."""

_MOST_QUOTED = 300

_MOST_PARTS = 200_000
"""The most commas and brackets of a message that is decoded by :mod:`json`.

:mod:`json` needs time and memory for each part: a message of the largest size would block the
reactor for many seconds.
"""


def decode(payload: bytes) -> ClientMessage:
    """Decode one message of a client.

    JSON that msgspec refuses but JavaScript accepts (``3.0`` for 3, escapes in bodies, lone
    surrogates) is decoded as well.

    :param payload: the JSON text in UTF-8.
    :raises InvalidMessageError: for a text that is not JSON, or a message of the wrong shape.
    """
    try:
        if not payload.isascii():
            # msgspec does not check the UTF-8 of the keys that it skips.
            payload.decode()
        message = _decoder.decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return _second_chance(payload, str(error))
    body_of = _BODY_OF.get(type(message))
    if body_of is not None and not is_plain(body_of(message)):
        return _second_chance(payload, "its body is not plain base64")
    return message


def is_plain(raw: Raw) -> bool:
    """Return whether a body can be passed on as it is: absent, ``null`` or plain ASCII text."""
    text = bytes(raw)
    if text in body.EMPTY:
        return True
    return text[:1] == b'"' and text.isascii() and b"\\" not in text


class MessageEncoder:
    """Encodes messages.

    :param written: returns a text of a subclass of ``str`` as it is written, such as a
        :class:`~trafficmock.texts.wording.Wording`.
    """

    def __init__(self, written: Callable[[str], str] = str.__str__) -> None:
        self._written = written
        self._encoder = msgspec.json.Encoder(enc_hook=partial(_exact, written=written))

    def encode(self, message: Message) -> bytes:
        """Encode one message; lone surrogates become escapes, as ``JSON.stringify`` writes them."""
        try:
            return self._encoder.encode(message)
        except UnicodeEncodeError:
            plain = to_plain(message, self._written)
            return json.dumps(plain, ensure_ascii=True, separators=(",", ":")).encode()


encode = MessageEncoder().encode


def to_plain(value: Any, written: Callable[[str], str] = str.__str__) -> Any:
    """Convert wire objects to dicts, lists and strings; raw JSON parts are decoded.

    :param written: as for :class:`MessageEncoder`.
    """
    if isinstance(value, Struct):
        return _struct_to_plain(value, written)
    if isinstance(value, str):
        return written(value)
    if isinstance(value, Raw | bytes):
        return json.loads(body.to_text(value))
    if isinstance(value, dict):
        return {key: to_plain(item, written) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item, written) for item in value]
    return value


def _struct_to_plain(value: Struct, written: Callable[[str], str]) -> dict[str, Any]:
    config = value.__struct_config__
    plain: dict[str, Any] = {config.tag_field: config.tag} if config.tag_field else {}
    for name, key in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
        item = getattr(value, name)
        if item is not msgspec.UNSET and not (isinstance(item, Raw) and not bytes(item)):
            plain[key] = to_plain(item, written)
    return plain


def _body_in(part: Any) -> Raw:
    """Return the body of a response or of overrides, ``ABSENT`` when ``part`` is ``UNSET``."""
    return body.ABSENT if part is msgspec.UNSET else part.body_base64


_BODY_OF: dict[type, Callable[[Any], Raw]] = {
    RequestStart: attrgetter("request.body_base64"),
    RequestObserve: attrgetter("request.body_base64"),
    RequestPassed: attrgetter("request.body_base64"),
    Batch: lambda batch: _first_unlike_base64(map(_body_of, batch.messages)),
    RequestBody: attrgetter("body_base64"),
    HandlerResult: lambda message: _body_of(message.result),
    Fulfill: attrgetter("response.body_base64"),
    Continue: lambda action: _body_in(action.overrides),
    FetchAction: lambda action: _body_in(action.overrides),
    Fallback: lambda action: _body_in(action.overrides),
    Written: lambda action: _body_in(action.overrides),
    RequestResponse: lambda message: _body_in(message.response),
    FetchResult: lambda message: _body_in(message.response),
    ReportMake: attrgetter("body_base64"),
    StreamData: attrgetter("body"),
}
"""For each type of message or handler action with a body, the function that returns the body."""


def _first_unlike_base64(bodies: Iterable[Raw]) -> Raw:
    return next((each for each in bodies if not is_plain(each)), body.ABSENT)


def _body_of(carrier: object) -> Raw:
    find = _BODY_OF.get(type(carrier))
    return body.ABSENT if find is None else find(carrier)


def _second_chance(payload: bytes, why: str) -> ClientMessage:
    if sum(map(payload.count, (b",", b"[", b"{"))) > _MOST_PARTS:
        kind, ids = named_in(payload[:HEAD_BYTES])
        raise InvalidMessageError(_complaint(kind, why), type=kind, ids=ids)
    try:
        document = json.loads(
            payload.decode(),
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_refuse_constant,
        )
    except (ValueError, RecursionError) as error:
        raise InvalidMessageError(f"this is not a JSON message: {error}") from None
    try:
        message: ClientMessage = msgspec.convert(_with_raw_parts(document), ClientMessage)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
        raise _invalid(document, error) from None
    return message


def _integer(text: str) -> int | float:
    """Parse an integer of any length, as JavaScript does: a very long one becomes infinity."""
    return int(text) if len(text) < _LONGEST_INTEGER else inf


def _number(text: str) -> float | int:
    """Parse ``3.0`` as 3, as JavaScript does."""
    value = float(text)
    return int(value) if value.is_integer() else value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _with_raw_parts(document: Any) -> Any:
    """Re-encode the parts of a document that messages keep as raw JSON."""
    if not isinstance(document, dict):
        return document
    document = _with_raw_bodies(document)
    if "result" in document:
        document["result"] = _with_raw_bodies(document["result"])
        if isinstance(document["result"], dict):
            _keep_options(document["result"], "options")
    if document.get("type") == "stream:data" and "body" in document:
        document["body"] = _raw_body(document["body"])
    if isinstance(document.get("messages"), list):
        document["messages"] = [_with_raw_bodies(each) for each in document["messages"]]
    _keep_options(document, "options")
    _keep_options(document, "stream")
    if isinstance(har := document.get("har"), dict) and isinstance(har.get("entries"), list):
        document["har"] = har | {"entries": [*map(_raw, har["entries"])]}
    if "detail" in document:
        document["detail"] = _raw(document["detail"])
    return document


def _keep_options(holder: dict[str, Any], key: str) -> None:
    if isinstance(options := holder.get(key), dict):
        holder[key] = {name: _raw(value) for name, value in options.items()}


def _raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


def _with_raw_bodies(holder: Any) -> Any:
    if not isinstance(holder, dict):
        return holder
    changed = dict(holder)
    if _BODY_KEY in holder:
        changed[_BODY_KEY] = _raw_body(holder[_BODY_KEY])
    for name in _BODY_PARENTS:
        parent = holder.get(name)
        if isinstance(parent, dict) and _BODY_KEY in parent:
            changed[name] = parent | {_BODY_KEY: _raw_body(parent[_BODY_KEY])}
    return changed


def _raw_body(value: Any) -> Any:
    """Encode a body without escapes and without characters that base64 does not have.

    Node's base64 decoder skips such characters.
    """
    if value is None:
        return body.NULL
    if not isinstance(value, str):
        return value
    plain = value.encode("ascii", "ignore").translate(None, _NOT_BASE64)
    return Raw(b'"' + plain + b'"')


def _invalid(document: Any, error: Exception) -> InvalidMessageError:
    if not isinstance(document, dict):
        return InvalidMessageError("a message must be a JSON object with a `type`")
    kind = document.get("type")
    ids = {key: document[key] for key in IDS if isinstance(document.get(key), str)}
    name = kind if isinstance(kind, str) else ""
    return InvalidMessageError(_complaint(name, error), type=name, ids=ids)


def _complaint(kind: str, why: object) -> str:
    return f"this {_short(kind) or 'message'} is not valid: {_short(str(why))}"


def _short(text: str) -> str:
    """Cut a quotation to :data:`_MOST_QUOTED` characters."""
    return text if len(text) <= _MOST_QUOTED else f"{text[:_MOST_QUOTED]}…"
