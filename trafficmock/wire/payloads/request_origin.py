"""Where a request without a context was sent from, as the agent of its process tells it."""

from msgspec import UNSET, Struct, UnsetType

from trafficmock.wire.payloads.quiet_repr import quiet_repr


class InboundRequest(Struct, frozen=True):
    """A request that came into the process.

    :param path: without the query.
    :param at: epoch milliseconds; 0 if it is not known.
    """

    method: str
    path: str
    at: int = 0

    __repr__ = quiet_repr


class RequestOrigin(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The origin of a request.

    :param kind: what sent it: ``request`` code that handles an inbound request without a context,
        ``expired`` code of a request whose context does not count any more, ``loop`` a loop that
        a request has begun, and that works for everyone; ``queue`` a job of a
        library for queues, ``batch`` items of several tests that a library handles together,
        ``message`` one of a subscription; ``connection`` an event of one; ``thread``, ``pool``,
        ``task`` and ``timer``; ``worker`` a worker thread of Node; ``receiver`` a thread
        that receives messages of a service for queues; ``main`` the main thread; ``code`` anything
        else.
    :param name: of the thread, the task, or the library or service for queues.
    :param started: file and line of the code that started the thread.
    :param at_import: whether a module that was being imported started it.
    :param library: the client library that the application called.
    :param place: file and line of that call.
    :param inbound: the request whose code sends this one; for ``expired`` and
        ``loop`` that with the context.
    :param carried: the latest request with a context that came into this process.
    """

    kind: str = "code"
    name: str | UnsetType = UNSET
    started: str | UnsetType = UNSET
    at_import: bool = False
    library: str | UnsetType = UNSET
    place: str | UnsetType = UNSET
    inbound: InboundRequest | UnsetType = UNSET
    carried: InboundRequest | UnsetType = UNSET
