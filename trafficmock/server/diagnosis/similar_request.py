"""The requests that came instead of those that a test waited for, or had a route for."""

from msgspec import Struct, UnsetType

from trafficmock.core.ownership.differences import Difference
from trafficmock.wire.payloads.quiet_repr import quiet_repr


class SimilarRequest(Struct, frozen=True, kw_only=True):
    """A request of the history, or several with the same facts, compared with one matcher.

    :param id: the id of the newest one.
    :param url: without user information, and cut if it is very long.
    :param differs: the parts that differ; empty if the matcher matches.
    :param count: the number of requests.
    :param undecided: the URL could not be compared: with a predicate, or a pattern that takes too
        many steps.
    :param before: all of them came before ``since`` of the matcher.
    :param foreign: it carries the context of another test.
    :param status: of the response.
    :param failure: why the server gave no complete response.
    :param title: of the test that decided it, or whose context it carries; ``path`` is that of its
        file.
    :param text: all of this in words: the request, and why it did not meet the route or wait.
    """

    id: str
    method: str
    url: str
    client_id: str
    differs: list[Difference]
    count: int
    undecided: bool
    before: bool
    foreign: bool
    status: int | UnsetType
    failure: str | UnsetType
    title: str | UnsetType
    path: str | UnsetType
    text: str = ""

    __repr__ = quiet_repr


class SimilarRequests(Struct, frozen=True):
    """Those for one matcher.

    :param requests: the most similar requests, nearest first.
    :param more: the number of further requests, by the same count.
    """

    requests: list[SimilarRequest]
    more: int
