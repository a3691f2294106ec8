"""Hands recordings over to the test sides, which write them into files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from msgspec import UNSET, UnsetType

from trafficmock.core.effects import WriteRecording
from trafficmock.core.state.har_recording import Exchange
from trafficmock.history.har.recorded_entries import attached_bodies, recorded_entry
from trafficmock.redaction.redacted_documents import redacted_har
from trafficmock.redaction.redactor import Redactor
from trafficmock.server.reports.slow_work import LARGE, SlowWork
from trafficmock.texts.named_fields import InvalidFieldError
from trafficmock.wire.outbound import RecordingPiece
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_har import SerializedRecording

PIECE_BYTES = 4 * 2**20
"""The most bytes of a piece."""


def recording_steps(
    effect: WriteRecording, redactor: Redactor
) -> Iterator[RecordingPiece | SlowWork[Any] | None]:
    """Make the files of a recording.

    :param redactor: that of the service; the recording may name further fields.
    :returns: yields ``None`` after each entry, what is to be done in a thread, and the pieces.
    """
    query_id, options = effect.query.query_id, effect.options
    if effect.error:
        yield RecordingPiece(query_id, body.NULL, done=True, error=effect.error)
        return
    try:
        redactor = redactor.adding(options.redact)
    except InvalidFieldError as error:
        yield RecordingPiece(query_id, body.NULL, done=True, error=str(error))
        return
    entries, size, written = [b"["], 0, set[str]()
    for number, exchange in enumerate(effect.exchanges):
        yield None
        work = SlowWork(partial(_written, exchange, options, redactor))
        if _letters(exchange) > LARGE:
            yield work
        entry, files = work.result()
        for name in files.keys() - written:
            yield from pieces(query_id, files[name], name)
        written |= files.keys()
        entries += [b"," if number else b"", entry]
        size += len(entry)
        if size > PIECE_BYTES:
            yield from pieces(query_id, b"".join(entries))
            entries, size = [], 0
    yield from pieces(query_id, b"".join([*entries, b"]"]))
    yield RecordingPiece(query_id, body.NULL, done=True)


def _written(
    exchange: Exchange, options: SerializedRecording, redactor: Redactor
) -> tuple[bytes, dict[str, bytes]]:
    """Return an entry as JSON, and the files of its bodies."""
    entry = recorded_entry(
        exchange.request,
        exchange.response,
        began=exchange.began,
        took=exchange.took,
        is_full=options.mode == "full",
    )
    entry = redacted_har(entry, redactor)
    files = attached_bodies(entry) if options.content == "attach" else {}
    return json.dumps(entry).encode("ascii"), files


def _letters(exchange: Exchange) -> int:
    answer = exchange.response
    size = len(answer) if isinstance(answer, str) else body.letters(answer.body_base64)
    return size + body.letters(exchange.request.body_base64)


def pieces(
    query_id: str, content: bytes, file: str | UnsetType = UNSET
) -> Iterator[RecordingPiece]:
    """Divide a file."""
    for start in range(0, len(content), PIECE_BYTES):
        piece = content[start : start + PIECE_BYTES]
        yield RecordingPiece(query_id, body.from_bytes(piece), file)
