"""Which way a request of a proxy client goes: to a server, into a tunnel, or back to us."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trafficmock.net.addresses import parse_authority
from trafficmock.net.proxy import framing, target
from trafficmock.net.proxy.exchange import Exchange
from trafficmock.net.proxy.heads import BadMessageError
from trafficmock.net.proxy.identity import client_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.net.proxy.client import ClientConnection
    from trafficmock.net.proxy.heads import RequestHead
    from trafficmock.net.proxy.party import Party
    from trafficmock.net.proxy.settings import Shared
    from trafficmock.net.proxy.target import Origin, Target


class Doorway:
    """The way of requests in absolute form, and of CONNECT.

    :param shared: what all connections of the proxy have in common.
    :param is_own: tells whether a target is this very service.
    :param leave: gives a connection, and what was read from it, to the other doors.
    """

    secure = False

    def __init__(
        self,
        shared: Shared,
        *,
        is_own: Callable[[bytes, Any], bool],
        leave: Callable[[ClientConnection, bytes], None],
    ) -> None:
        self._shared = shared
        self._is_own = is_own
        self._leave = leave
        self._credentials: bytes | None = None
        self._party: Party | None = None

    def enter(self, connection: ClientConnection, head: RequestHead, raw: bytes) -> None:
        """Let a request go its way.

        :param raw: its bytes and all that came behind it.
        """
        _check_host(head)
        local = connection.local()
        if b":%d" % getattr(local, "port", 0) in head.target and self._is_own(head.target, local):
            connection.gone()
            self._leave(connection, raw)
            return
        aim = target.absolute(head.target, head.method)
        party = self._identify(connection, head)
        body = framing.of_request(head)
        exchange = Exchange(connection, party, self._shared, head=head, target=aim, body=body)
        connection.begin(exchange)

    def _identify(self, connection: ClientConnection, head: RequestHead) -> Party:
        """Tell whose request it is; a connection keeps the id it began with."""
        credentials = head.fields.get(b"proxy-authorization")
        if self._party is None or credentials != self._credentials:
            name = client_id(credentials, self._shared.settings.token)
            self._party = self._shared.parties.enter(name)
            self._credentials = credentials
            connection.belongs_to(self._party)
        return self._party


def _check_host(head: RequestHead) -> None:
    """See to it that HTTP/1.1 names one host (RFC 9112 section 3.2)."""
    host = head.fields.get(b"host")
    if host is None and head.minor > 0:
        raise BadMessageError("HTTP/1.1 wants exactly one Host header.")
    if host and parse_authority(host.decode("latin-1")) is None:
        raise BadMessageError("HTTP/1.1 wants exactly one Host header, of the form host[:port].")
