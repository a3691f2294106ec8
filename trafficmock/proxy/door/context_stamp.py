"""Puts the context of one test on requests for its application."""

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
    """Let the brackets of an IPv6 address stand for themselves."""
    return glob.lower().replace("[", "[[]")


@frozen
class ContextStamp:
    """Adds the context to, or removes it from, the header of each request.

    :param context: of its test.
    :param origins: globs of the application's origins, such as ``http://*.shop.test``. Without
        any, the hosts under test are its application.
    :param own_hosts: globs of hosts under test (``--own-host``).
    :param new_span: makes the span id of a trace, 16 hexadecimal digits.
    :param alias: what stands in the place of the context where that is the id of a trace.
    """

    context: str
    origins: tuple[str, ...] = ()
    own_hosts: tuple[str, ...] = ()
    new_span: Callable[[], bytes] = _new_span
    alias: bytes = field(factory=lambda: secrets.token_hex(16).encode("ascii"))

    def __call__(self, origin: Origin, pairs: Pairs) -> Pairs:
        """Return the header to send to ``origin``."""
        if self._is_application(origin):
            return stamped(pairs, self.context.encode("ascii"), self.new_span())
        # A page may have got the id of its trace from its server.
        return with_other_id(without_context(pairs), self.context.encode("ascii"), self.alias)

    def _is_application(self, origin: Origin) -> bool:
        if not self.origins:
            return is_under_test(origin, self.own_hosts)
        return any(fnmatchcase(str(origin), _literal_brackets(glob)) for glob in self.origins)
