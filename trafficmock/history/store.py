"""The front of the history: what happened goes in here, and entries come out."""

from trafficmock.history.request_recorder import RequestRecorder
from trafficmock.history.websocket_recorder import SocketRecorder


class History(RequestRecorder, SocketRecorder):
    """Remembers requests and WebSockets, within bounds (protocol 3), to be read by REST.

    Every time is in epoch ms. Calls about an id that is not remembered, or that come too late
    to be true (a second decision, a report after a mock), change nothing and raise nothing:
    what is remembered must never be able to disturb what is decided.

    ``requests`` and ``sockets`` are the :class:`~trafficmock.history.rows.Rows` to read from.

    :param capture: ``all``; ``handled``, which keeps only what a test acted on or claimed and
        shows nothing before it is known to stay; or ``none``.
    :param http_limit: how many requests.
    :param socket_limit: how many WebSockets.
    :param byte_limit: bytes of bodies and frames, as stored, over both; 0 is no limit.
    :param event_prefix: begins every event id, to make them unique across starts.
    """

    __slots__ = ()
