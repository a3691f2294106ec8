"""Results remembered by text that comes from outside."""

from __future__ import annotations

import base64
import contextlib
import tracemalloc
from typing import TYPE_CHECKING, Any

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.errors import TrafficMockError
from trafficmock.http import hosts
from trafficmock.http.bounded_cache import LONGEST_KEY, cached_by_text
from trafficmock.proxy import request_target
from trafficmock.proxy.downstream import proxy_credentials
from trafficmock.proxy.http1 import heads

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS: dict[str, Callable[[str], Any]] = {
    "Host": hosts.parse_authority,
    "Origin": lambda text: hosts.parse_origin(f"http://{text}"),
    "host name": hosts.is_loopback,
    "list of tokens": lambda text: heads.tokens(text.encode()),
    "header name": lambda text: heads.parse_request(b"GET / HTTP/1.1\r\n%s: x" % text.encode()),
    "authority": lambda text: request_target.absolute(b"http://%s/" % text.encode()),
    "path": lambda text: request_target.absolute(b"http://a.test/../%s" % text.encode()),
    "credentials": lambda text: proxy_credentials.client_id(
        b"Basic " + base64.b64encode(text.encode()), None
    ),
}


class CachedTests(SynchronousTestCase):
    """The decorator."""

    def test_short_and_long(self) -> None:
        """Results of short texts are remembered, results of long ones are made each time."""
        calls: list[str] = []

        @cached_by_text(maxsize=2)
        def length(prefix: str, text: str) -> int:
            calls.append(prefix + text)
            return len(prefix + text)

        for text in ("a", "b" * LONGEST_KEY, "c" * (LONGEST_KEY + 1)):
            self.assertEqual([length("x", text), length("x", text)], [1 + len(text)] * 2)
        self.assertEqual(len(calls), 4)

    def test_memory(self) -> None:
        """Long texts of clients leave nothing behind, whatever they are read as."""
        for name, call in CALLS.items():
            tracemalloc.start()
            try:
                before, _ = tracemalloc.get_traced_memory()
                for number in range(50):
                    with contextlib.suppress(TrafficMockError):
                        call(f"{number}" + "a" * 60_000)
                after, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            self.assertLess(after - before, 200_000, name)
