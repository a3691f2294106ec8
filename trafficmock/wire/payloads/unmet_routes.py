"""The routes and waits of a test that no request met."""

from msgspec import UNSET, Struct, UnsetType

from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher


class UnmetMatcher(Struct, frozen=True, omit_defaults=True):
    """A route that no request met, or a wait that timed out.

    :param since: the time of its registration, or the beginning of the wait, in epoch milliseconds
        of the coordinator's clock.
    """

    matcher: SerializedMatcher
    since: int | UnsetType = UNSET


class UnmetRoute(UnmetMatcher, frozen=True, omit_defaults=True, rename="camel", kw_only=True):
    """A route that no request met, as far as its test side knows.

    :param text: says so, with the route, its handler and its place; hints are further lines.
    :param own_process: whether it is for a server of the test's process: nothing can come to it.
    """

    route_id: str
    text: str
    own_process: bool = False

    __repr__ = quiet_repr
