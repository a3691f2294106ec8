"""Writes what the core says of traffic, for what leaves the driver without being encoded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen
from msgspec import Struct, structs

from trafficmock import records
from trafficmock.redaction.redactor import Redactor
from trafficmock.texts.wording import Wording
from trafficmock.wire import outbound

Writers = dict[type, Callable[[Any, int], None]]

_FIELDS: dict[type, str] = {
    records.ContextMixedUp: "mixed",
    records.RequestAborted: "detail",
    records.RequestFailed: "message",
    records.RequestSeen: "lost",
    records.ResponseReported: "error",
    records.SocketFailed: "message",
    records.StreamEnded: "failure",
    outbound.DecisionAbort: "message",
    outbound.DecisionError: "message",
    outbound.SocketError: "message",
}
"""The field of records, and of messages for clients in this process, with texts of the core."""


@frozen
class WrittenTexts:
    """Replaces texts with parts by what is written of them.

    :param redactor: that of the service.
    """

    redactor: Redactor

    def of(self, struct: Any) -> Any:
        """Return a record or a message with its texts as they are written."""
        name = _FIELDS.get(type(struct), "")
        value = getattr(struct, name, None)
        return struct if value is None else structs.replace(struct, **{name: self._written(value)})

    def before(self, writers: Writers) -> Writers:
        """Return functions for records that get their texts as they are written."""
        return {
            kind: self._writer(write, _FIELDS[kind]) if kind in _FIELDS else write
            for kind, write in writers.items()
        }

    def _writer(self, write: Callable[[Any, int], None], name: str) -> Callable[[Any, int], None]:
        def writer(record: Any, at: int) -> None:
            write(record if getattr(record, name) is None else self.of(record), at)

        return writer

    def _written(self, value: Any) -> Any:
        if isinstance(value, Wording):
            return self.redactor.written(value)
        if isinstance(value, Struct):
            texts = {name: self._written(getattr(value, name)) for name in value.__struct_fields__}
            return structs.replace(value, **texts)
        return value
