"""Writes the events of WebSockets into their entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define
from msgspec import UNSET

from trafficmock import records
from trafficmock.history.entry import MAX_DETAIL
from trafficmock.history.rest_records import Direction, RecordedClose, SocketEvent, SocketRecord
from trafficmock.history.rows import Rows
from trafficmock.history.search import matches_weight
from trafficmock.history.websocket_entry import SocketEntry, frame_size


@define(eq=False)
class SocketRecorder:
    """Writes the stages and frames of WebSockets (protocol 3).

    :param capture: as in :class:`trafficmock.history.store.History`.
    :param event_id: returns the id of the next event.
    """

    sockets: Rows[SocketEntry]
    capture: str
    _event_id: Callable[[], str]

    def writers(self) -> dict[type, Callable[[Any, int], None]]:
        """Return the method that writes each type of event; it also gets the time in epoch ms."""
        return {
            records.SocketSeen: self._seen,
            records.SocketOwned: self._owned,
            records.SocketPassedThrough: self._passed_through,
            records.SocketFailed: self._failed,
            records.SocketActivity: self._activity,
            records.SocketClosed: self._closed,
        }

    def _seen(self, record: records.SocketSeen, at: int) -> None:
        self.sockets.counts.saw(record.socket_id, record.url, record.carried)
        if self.capture == "none":
            return
        url, protocols = record.url, record.protocols
        kept = SocketRecord(record.socket_id, at, record.client_id, url, protocols, "pending")
        weight = len(record.socket_id) + len(url) + sum(map(len, protocols))
        entry = SocketEntry(
            id=record.socket_id,
            timestamp=at,
            client_id=record.client_id,
            record=kept,
            on_change=self.sockets.touch,
            weight=weight,
        )
        entry.carries(record.carried)
        self._log(entry, "system", "open", "observed", at)
        self.sockets.add(entry)

    def _owned(self, record: records.SocketOwned, at: int) -> None:
        entry = self.sockets.find(record.socket_id)
        self.sockets.counts.decided(record.socket_id, "matched", record.owner)
        if entry is not None and entry.pending:
            entry.own(record.owner)
            self._settle(entry, "matched", at)

    def _passed_through(self, record: records.SocketPassedThrough, at: int) -> None:
        entry = self.sockets.find(record.socket_id)
        self.sockets.counts.decided(record.socket_id, "passthrough")
        if entry is None or not entry.pending:
            return
        if self.capture == "handled":
            self.sockets.remove(entry)
        else:
            grown = entry.passed(record.also_matched)
            self._settle(entry, "passthrough", at)
            self.sockets.weigh(entry, grown)

    def _failed(self, record: records.SocketFailed, at: int) -> None:
        """Write the failure of a WebSocket, unless it has failed or was closed before."""
        self.sockets.counts.decided(record.socket_id, "error", record.owner)
        entry = self.sockets.find(record.socket_id)
        if entry is None or entry.action == "error" or entry.closed_sides:
            return
        entry.own(record.owner)
        kept, message = entry.record, record.message
        kept.outcome = "error"
        kept.error_code, kept.error_message = record.code, message
        kept.matches = record.matches or UNSET
        self._log(entry, "system", "error", message, at)
        self.sockets.settle(entry)
        self.sockets.weigh(entry, len(message) + matches_weight(record.matches))

    def _activity(self, record: records.SocketActivity, at: int) -> None:
        entry = self.sockets.find(record.socket_id)
        if entry is not None:
            data, is_base64 = record.data, record.is_base64
            self._log(
                entry,
                record.direction,
                record.kind,
                record.detail,
                at,
                data=data,
                is_base64=is_base64,
            )
            entry.changed()

    def _closed(self, record: records.SocketClosed, at: int) -> None:
        """Write the first close of a side; later closes of the same side are ignored.

        The detail of the event names the side, as in ``close page 1000 bye``.
        """
        entry = self.sockets.find(record.socket_id)
        side, code, reason = record.side, record.code, record.reason
        if entry is None or side in entry.closed_sides:
            return
        entry.closed_sides.add(side)
        entry.record.closed_at = at
        entry.record.close = RecordedClose(
            record.was_clean,
            UNSET if code is None else code,
            UNSET if reason is None else reason,
        )
        words = ["close", side, "" if code is None else str(code), reason or ""]
        self._log(entry, "system", "close", " ".join(filter(None, words)), at)
        entry.changed()
        self.sockets.weigh(entry, len(reason or ""))

    def _settle(self, entry: SocketEntry, outcome: str, at: int) -> None:
        entry.record.outcome = outcome
        self._log(entry, "system", "handler", outcome, at)
        self.sockets.settle(entry)

    def _log(
        self,
        entry: SocketEntry,
        direction: Direction,
        kind: str,
        detail: str | None,
        at: int,
        *,
        data: str | None = None,
        is_base64: bool | None = None,
    ) -> None:
        event = SocketEvent(
            self._event_id(),
            at,
            direction,
            kind,
            UNSET if detail is None else detail[:MAX_DETAIL],
            UNSET if data is None else data,
            UNSET if is_base64 is None else is_base64,
        )
        self.sockets.release(entry.log(event))
        if data:
            self.sockets.hold(entry, event, frame_size(data))
