"""The requests that came instead of those that a test waits for."""

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


class Difference(Struct, frozen=True, omit_defaults=True):
    """A part in which a request differs from a matcher.

    :param part: ``method``, ``client``, ``scheme``, ``host``, ``port``, ``path``, ``query`` (with
        its question mark), ``url`` (a regular expression), ``condition`` (``found`` says how it
        fails), ``predicate``, ``handler``, or ``origin`` (a call of the tests' own process, whose
        origin the matcher does not name).
    :param found: the value of the request; absent for ``predicate`` and ``handler``.
    :param wanted: the text of the matcher for that part; absent as well.
    """

    part: str
    found: str | UnsetType = UNSET
    wanted: str | UnsetType = UNSET

    __repr__ = quiet_repr


class SimilarRequest(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A request of the history, or several with the same facts, compared with one matcher.

    :param id: the id of the newest one.
    :param url: without user information, and cut if it is very long.
    :param action: as in the record of ``/api/history``, as are ``status``, ``test_id``, ``title``
        and ``path``.
    :param differs: the parts that differ; empty if the matcher matches.
    :param count: the number of requests.
    :param undecided: the URL could not be compared: with a predicate, or a pattern that takes too
        many steps.
    :param before: all of them came before ``since`` of the matcher.
    :param foreign: it carries the context of another test, which ``title`` and ``path`` name.
    :param failure: why the server gave no complete response.
    :param text: all of this in words: the request, and why it did not meet the route or wait.
    """

    id: str
    method: str
    url: str
    client_id: str
    action: str
    differs: list[Difference]
    count: int = 1
    undecided: bool = False
    before: bool = False
    foreign: bool = False
    status: int | UnsetType = UNSET
    failure: str | UnsetType = UNSET
    test_id: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    text: str = ""

    __repr__ = quiet_repr


class SimilarRequests(Struct, frozen=True):
    """The answer for one matcher.

    :param requests: the most similar requests, nearest first.
    :param more: the number of further requests, by the same count.
    """

    requests: list[SimilarRequest]
    more: int
