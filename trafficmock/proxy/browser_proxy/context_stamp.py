"""Adds the context of one test to requests for its application."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from attrs import field, frozen

from trafficmock.matching.host_pattern import HostPattern, is_under_test
from trafficmock.matching.origin_pattern import OriginPattern, is_application
from trafficmock.proxy.http1.context_headers import stamped, with_other_id, without_context
from trafficmock.proxy.http1.heads import Pairs
from trafficmock.proxy.request_target import Origin


def _new_span() -> bytes:
    return secrets.token_hex(8).encode("ascii")


@frozen
class ContextStamp:
    """Adds the context to the header of a request for the application; removes it from others.

    :param context: the context of the test, 32 hexadecimal digits.
    :param origins: the application's origins. If there are none, the application is at the hosts
        under test.
    :param own_hosts: further hosts under test (``--own-host``).
    :param hosts_under_test: hosts under test are the application besides the origins.
    :param untagged: called with the origin of a request to a host under test that is not the
        application's.
    :param called: called with the origin of each request that gets the context.
    :param new_span: makes the span id of a trace, 16 hexadecimal digits.
    :param alias: replaces the context wherever other servers would see it as the id of a trace.
    """

    context: str
    origins: tuple[OriginPattern, ...] = ()
    own_hosts: tuple[HostPattern, ...] = ()
    hosts_under_test: bool = field(default=False, kw_only=True)
    untagged: Callable[[str], None] = field(default=lambda _: None, kw_only=True)
    called: Callable[[str], None] = field(default=lambda _: None, kw_only=True)
    new_span: Callable[[], bytes] = _new_span
    alias: bytes = field(factory=lambda: secrets.token_hex(16).encode("ascii"), repr=False)

    def __call__(self, origin: Origin, pairs: Pairs) -> Pairs:
        """Return the header to send to ``origin``."""
        if self._is_application(origin):
            self.called(str(origin))
            return stamped(pairs, self.context.encode("ascii"), self.new_span())
        if self._is_under_test(origin):
            self.untagged(str(origin))
        # The application may have passed the id of the trace to the page, which sends it on.
        return with_other_id(without_context(pairs), self.context.encode("ascii"), self.alias)

    def _is_application(self, origin: Origin) -> bool:
        where = origin.scheme, origin.host, origin.port
        everywhere = self.hosts_under_test
        return is_application(self.origins, self.own_hosts, *where, everywhere=everywhere)

    def _is_under_test(self, origin: Origin) -> bool:
        return is_under_test(self.own_hosts, origin.host, origin.port)
