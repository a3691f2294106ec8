"""Tells the proxy what it does not see by itself: a context that came in, a request that left.

A strict test fails if no attached application has got its context, or if a request went past
the proxy. A notice is a ``CONNECT`` without a tunnel, which is written and not waited for. One asks
whether tests run, and is answered.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    FindProxy = Callable[[], tuple[str, int]]
    """Returns host and port of the proxy."""
    Connect = Callable[[str, int, bytes], bytes]
    """Writes a ``CONNECT`` for a host and a port, with more lines of its header."""

NOTICE = b"Trafficmock-Notice"
SEEN, IGNORED, TESTS = b"seen", b"ignored", b"tests"

_NOWHERE = "trafficmock.invalid", 443
_MOST_REMEMBERED = 1000
_AGAIN_SECONDS = 1.0
"""After this time a connection to an ignored host is reported again."""
_SEND_SECONDS = 0.5
_ASK_AGAIN_SECONDS = 0.5
_ORIGINS = b"trafficmock-origins:"
_MOST_BYTES = 4096


class Notices:
    """Tells of contexts once each, and of connections to ignored hosts once a second each."""

    def __init__(self, proxy: FindProxy, connect: Connect, now: Callable[[], float]) -> None:
        self._proxy = proxy
        self._connect = connect
        self._now = now
        self._sent: OrderedDict[object, float] = OrderedDict()
        self._asked: tuple[float | None, bool] = None, False

    def seen(self, context_id: str) -> None:
        """Tell of a context that an inbound request carries."""
        if not self._was_sent(context_id, None):
            self._send(SEEN, *_NOWHERE, context_id)

    def ignored(self, host: str, port: int, context_id: str) -> None:
        """Tell of a connection to a host that the settings ignore.

        :param context_id: of the code that connects; empty for none.
        """
        if not self._was_sent((host, port, context_id), _AGAIN_SECONDS):
            self._send(IGNORED, host, port, context_id)

    def do_tests_run(self) -> bool:
        """Ask whether tests with contexts run, at most twice a second."""
        at, answer = self._asked
        if at is None or self._now() - at >= _ASK_AGAIN_SECONDS:
            answer = _ORIGINS in self._send(TESTS, *_NOWHERE, "", is_answered=True).lower()
            self._asked = self._now(), answer
        return answer

    def _was_sent(self, what: object, lasting: float | None) -> bool:
        now = self._now()
        at = self._sent.get(what)
        if at is not None and (lasting is None or now - at < lasting):
            return True
        self._sent[what] = now
        self._sent.move_to_end(what)
        if len(self._sent) > _MOST_REMEMBERED:
            self._sent.popitem(last=False)
        return False

    def _send(
        self, kind: bytes, host: str, port: int, context_id: str, *, is_answered: bool = False
    ) -> bytes:
        import socket

        added = b"%s: %s\r\nTrafficmock-Context: %s\r\n" % (NOTICE, kind, context_id.encode())
        # Without the proxy the application's own requests fail, and say so.
        with contextlib.suppress(OSError):
            opened = socket.create_connection(self._proxy(), _SEND_SECONDS)
            with contextlib.closing(opened):
                opened.sendall(self._connect(host, port, added))
                return opened.recv(_MOST_BYTES) if is_answered else b""
        return b""
