"""Carries what the core says happened across to the history, and stamps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field

from trafficmock import records
from trafficmock.history.entry import Owner

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.history.store import History


def _owner(owner: records.Owner) -> Owner:
    return Owner(owner.test_id, owner.route_id, owner.title, owner.file)


def _owner_or_none(owner: records.Owner | None) -> Owner | None:
    return None if owner is None else _owner(owner)


@define
class Recorder:
    """Writes records into a history; the core and the history do not know each other."""

    history: History
    _writers: dict[type, Callable[[Any, int], None]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._writers = self._table()

    def record(self, record: records.Record, at: int) -> None:
        """Write one record.

        :param at: when it happened, in milliseconds since 1970.
        """
        self._writers[type(record)](record, at)

    def _table(self) -> dict[type, Callable[[Any, int], None]]:
        history = self.history
        return {
            records.RequestSeen: lambda r, at: history.request_observed(
                r.request_id,
                r.client_id,
                r.request,
                at,
                body_pending=r.body_pending,
                prior_id=r.redirected_from,
            ),
            records.RequestBodyCame: lambda r, _: history.request_body_came(
                r.request_id, r.request
            ),
            records.RequestPassedThrough: lambda r, at: history.request_passed_through(
                r.request_id, at
            ),
            records.RequestContinued: lambda r, at: history.request_continued(
                r.request_id, _owner(r.owner), r.overrides, at
            ),
            records.RequestFulfilled: lambda r, at: history.request_fulfilled(
                r.request_id, _owner(r.owner), r.response, at
            ),
            records.RequestAborted: lambda r, at: history.request_aborted(
                r.request_id, _owner_or_none(r.owner), r.error_code, r.detail, at
            ),
            records.RequestFailed: lambda r, at: history.request_failed(
                r.request_id,
                owner=_owner_or_none(r.owner),
                code=r.code,
                message=r.message,
                matches=r.matches,
                at=at,
            ),
            records.ResponseReported: lambda r, at: history.response_reported(
                r.request_id, r.response, r.error, at, body_pending=r.body_pending
            ),
            records.HopSeen: lambda r, at: history.hop_observed(
                r.request_id,
                client_id=r.client_id,
                request=r.request,
                prior_id=r.prior_id,
                action=r.action,
                owner=_owner_or_none(r.owner),
                at=at,
            ),
            records.SocketSeen: lambda r, at: history.socket_observed(
                r.socket_id, r.client_id, r.url, r.protocols, at
            ),
            records.SocketOwned: lambda r, at: history.socket_matched(
                r.socket_id, _owner(r.owner), at
            ),
            records.SocketPassedThrough: lambda r, at: history.socket_passed_through(
                r.socket_id, at
            ),
            records.SocketFailed: lambda r, at: history.socket_failed(
                r.socket_id,
                owner=_owner_or_none(r.owner),
                code=r.code,
                message=r.message,
                matches=r.matches,
                at=at,
            ),
            records.SocketActivity: lambda r, at: history.socket_event(
                r.socket_id,
                direction=r.direction,
                kind=r.kind,
                detail=r.detail,
                data=r.data,
                is_base64=r.is_base64,
                at=at,
            ),
            records.SocketClosed: lambda r, at: history.socket_closed(
                r.socket_id,
                side=r.side,
                code=r.code,
                reason=r.reason,
                was_clean=r.was_clean,
                at=at,
            ),
        }
