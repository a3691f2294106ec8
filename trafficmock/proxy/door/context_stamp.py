"""Adds the context of one test to requests for its application."""

from __future__ import annotations

import secrets
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from attrs import field, frozen

from trafficmock.proxy.hosts_under_test import is_under_test
from trafficmock.proxy.http1.context_headers import stamped, with_other_id, without_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.proxy.http1.heads import Pairs
    from trafficmock.proxy.request_target import Origin


def _new_span() -> bytes:
    return secrets.token_hex(8).encode("ascii")


def _literal_brackets(glob: str) -> str:
    """Escape the brackets of an IPv6 address, which are a character class in a glob."""
    return glob.lower().replace("[", "[[]")


@frozen
class ContextStamp:
    """Adds the context to the header of a request for the application; removes it from others.

    :param context: the context of the test, 32 hexadecimal digits.
    :param origins: globs of the application's origins, such as ``http://*.shop.test``. If there
        are none, the application is at the hosts under test.
    :param own_hosts: globs of hosts under test (``--own-host``).
    :param hosts_under_test: hosts under test are the application besides the origins.
    :param untagged: called with the origin of a request to a host under test that is not the
        application's.
    :param new_span: makes the span id of a trace, 16 hexadecimal digits.
    :param alias: replaces the context wherever other servers would see it as the id of a trace.
    """

    context: str
    origins: tuple[str, ...] = ()
    own_hosts: tuple[str, ...] = ()
    hosts_under_test: bool = field(default=False, kw_only=True)
    untagged: Callable[[str], None] = field(default=lambda _: None, kw_only=True)
    new_span: Callable[[], bytes] = _new_span
    alias: bytes = field(factory=lambda: secrets.token_hex(16).encode("ascii"))

    def __call__(self, origin: Origin, pairs: Pairs) -> Pairs:
        """Return the header to send to ``origin``."""
        if self._is_application(origin):
            return stamped(pairs, self.context.encode("ascii"), self.new_span())
        if is_under_test(origin, self.own_hosts):
            self.untagged(str(origin))
        # The application may have passed the id of the trace to the page, which sends it on.
        return with_other_id(without_context(pairs), self.context.encode("ascii"), self.alias)

    def _is_application(self, origin: Origin) -> bool:
        if any(fnmatchcase(str(origin), _literal_brackets(glob)) for glob in self.origins):
            return True
        everywhere = self.hosts_under_test or not self.origins
        return everywhere and is_under_test(origin, self.own_hosts)
