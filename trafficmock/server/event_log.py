"""Logs clients that connect and leave, requests that failed, and at level debug each decision."""

from __future__ import annotations

from attrs import define, field
from twisted.logger import Logger

from trafficmock import records
from trafficmock.core.effects import Send
from trafficmock.http.log_safety import MOST_CHARACTERS, one_line
from trafficmock.redaction.redactor import Redactor
from trafficmock.wire.outbound import HelloOk

_COUNTED = frozenset({"disconnected"})
"""Error codes of requests that a leaving client ends: the core logs one line with their number."""


@define
class EventLog:
    """Writes log lines about connections and the core's decisions.

    :param debug: whether to log each request. It is a constant, so that no log event has to be made
        to find that out.
    :param redactor: replaces secrets in the texts and URLs of clients.
    """

    log = Logger()

    debug: bool = False
    redactor: Redactor = field(factory=Redactor)

    def sent(self, send: Send, peer: str) -> None:
        hello = send.message
        if isinstance(hello, HelloOk):
            text = "{client_id} connected from {peer} as {connection_id}"
            name = one_line(hello.client_id)
            self.log.info(text, client_id=name, peer=peer, connection_id=hello.connection_id)

    def closed(self, connection_id: str) -> None:
        """Log the end of a connection."""
        self.log.info("{connection_id} disconnected", connection_id=connection_id)

    def recorded(self, record: records.Record) -> None:
        """Log a request that could not be decided, and at level debug each decision."""
        if isinstance(record, records.RequestFailed | records.SocketFailed):
            if record.code in _COUNTED and not self.debug:
                return
            write = self.log.debug if record.code in _COUNTED else self.log.warn
            write("{code}: {text}", code=record.code, text=self.quoted(record.message))
        elif self.debug:
            self._in_detail(record)

    def quoted(self, text: str) -> str:
        """Return a text that quotes a client as one line without its secrets."""
        return one_line(self.redactor.text(self.redactor.written(text)[: MOST_CHARACTERS + 1]))

    def _in_detail(self, record: records.Record) -> None:
        what = type(record).__name__
        names = ("request_id", "socket_id", "test_id")
        subject = one_line(next(str(getattr(record, n)) for n in names if hasattr(record, n)))
        match record:
            case records.RequestSeen():
                request = record.request
                self.log.debug(
                    "{id} {method} {url} of {client_id}",
                    id=subject,
                    method=one_line(request.method),
                    url=one_line(self.redactor.url(request.url)),
                    client_id=one_line(record.client_id),
                )
            case records.SocketSeen():
                self.log.debug(
                    "{id} WebSocket {url} of {client_id}",
                    id=subject,
                    url=one_line(self.redactor.url(record.url)),
                    client_id=one_line(record.client_id),
                )
            case records.SocketActivity():
                return
            case _:
                self.log.debug("{id} {what}", id=subject, what=what)
