"""What may happen to a WebSocket, and what is then remembered."""

from typing import Literal

from msgspec import UNSET

from trafficmock.history.entry import MAX_DETAIL, Owner
from trafficmock.history.recorder import Recorder
from trafficmock.history.rest_records import Direction, SocketClose, SocketEvent, SocketRecord
from trafficmock.history.websocket_entry import SocketEntry, frame_size
from trafficmock.wire.serialized_matcher import RouteMatchDiagnostic


class SocketRecorder(Recorder):
    """The stages and events of a WebSocket (protocol 3)."""

    __slots__ = ()

    def socket_observed(
        self, socket_id: str, client_id: str, url: str, protocols: list[str], at: int
    ) -> None:
        """Begin an entry: a WebSocket is held until somebody decides."""
        if self.capture == "none":
            return
        record = SocketRecord(socket_id, at, client_id, url, protocols, "pending")
        weight = len(url) + sum(map(len, protocols))
        entry = SocketEntry(record=record, on_change=self.sockets.touch, weight=weight)
        self._log(entry, "system", "open", "observed", at)
        self.sockets.add(entry)

    def socket_matched(self, socket_id: str, owner: Owner, at: int) -> None:
        """Note that a test owns it."""
        entry = self.sockets.find(socket_id)
        if entry is not None and entry.pending:
            entry.own(owner)
            self._settle(entry, "matched", at)

    def socket_passed_through(self, socket_id: str, at: int) -> None:
        """Note that nobody wanted it: it is connected to the real server."""
        entry = self.sockets.find(socket_id)
        if entry is None or not entry.pending:
            return
        if self.capture == "handled":
            self.sockets.remove(entry)
        else:
            self._settle(entry, "passthrough", at)

    def socket_failed(  # noqa: PLR0917 - the order of the core's record
        self,
        socket_id: str,
        owner: Owner | None,
        code: str,
        message: str,
        matches: list[RouteMatchDiagnostic] | None,
        at: int,
    ) -> None:
        """Note that it must fail; ``matches`` are the claimants of an ambiguous one.

        One that is open may fail, too, but not one that has failed or was closed already.
        """
        entry = self.sockets.find(socket_id)
        if entry is None or entry.action == "error" or entry.closed_sides:
            return
        entry.own(owner)
        record = entry.record
        record.outcome = "error"
        record.error_code, record.error_message = code, message
        record.matches = matches or UNSET
        self._log(entry, "system", "error", message, at)
        self.sockets.settle(entry)
        self.sockets.weigh(entry, len(message))

    def socket_event(  # noqa: PLR0917 - the order of the core's record
        self,
        socket_id: str,
        direction: Direction,
        kind: Literal["frame", "handler", "error"],
        detail: str | None,
        data: str | None,
        is_base64: bool | None,  # noqa: FBT001 - a field of the core's record
        at: int,
    ) -> None:
        """Note that a frame passed, or that a handler acted."""
        entry = self.sockets.find(socket_id)
        if entry is not None:
            self._log(entry, direction, kind, detail, at, data=data, is_base64=is_base64)
            entry.changed()

    def socket_closed(  # noqa: PLR0917 - the order of the core's record
        self,
        socket_id: str,
        side: Literal["page", "server"],
        code: int | None,
        reason: str | None,
        was_clean: bool,  # noqa: FBT001 - a field of the core's record
        at: int,
    ) -> None:
        """Note that one side closed; only its first close counts, the others are echoes.

        :param side: ``page`` is the application's, ``server`` the real or mocked server's; the
            event names it, as in ``close page 1000 bye``.
        """
        entry = self.sockets.find(socket_id)
        if entry is None or side in entry.closed_sides:
            return
        entry.closed_sides.add(side)
        entry.record.closed_at = at
        entry.record.close = SocketClose(
            was_clean, UNSET if code is None else code, UNSET if reason is None else reason
        )
        said = ["close", side, "" if code is None else str(code), reason or ""]
        self._log(entry, "system", "close", " ".join(filter(None, said)), at)
        entry.changed()

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
