"""The features: additions to protocol 3, which ``hello`` names and ``hello:ok`` confirms.

A feature is for what comes to a client unasked, or is expected of it: a client that does not name a
feature never gets the messages and keys of that feature. What a client asks for by a message or a
key of its own needs none.
"""

CHAIN = "chain"
"""The coordinator does what is a rule: it runs the handlers of a request in their order, gives
fixed answers, reads globs and ends waits; workers run single functions."""

CLOCK = "clock"
"""Messages to workers have the time at which the coordinator received a request."""

CONTEXT = "context"
"""Each test has a context, an id that its requests carry in a header, and agents report it."""

FAULTS = "faults"
"""Agents break answers, mocked or real, as a failing server does, and slow real ones down."""

HEADERS_LIST = "headers-list"
"""Requests and responses have ``headersList``, which keeps the order and repeats of headers."""

LOCAL = "local"
"""Agents have a filter: they let requests pass without asking that no route can match."""

ORIGINS = "origins"
"""Agents say where requests without a context are sent from, while tests with contexts run."""

SEEN_CONTEXTS = "seen-contexts"
"""Agents tell of each context that comes into their process, also by a request that sends none."""

SHOWN_URLS = "shown-urls"
"""Workers get URLs with secrets also with marks in their place, as they may be printed."""

STREAM = "stream"
"""Agents announce requests, and report responses, before their bodies."""

STREAM_MOCKS = "stream-mocks"
"""Agents write an answer piece by piece; the application's process acknowledges the pieces."""

STRICT = "strict"
"""Strict tests and runs refuse requests that no route matches; agents know that error code."""

SUBSCRIBE = "subscribe"
"""Workers get the events of all traffic only after ``test:subscribe``."""

WARNINGS = "warnings"
"""Workers get warnings about tests, which do not fail them."""

ALL = frozenset(
    {
        CHAIN,
        CLOCK,
        CONTEXT,
        FAULTS,
        HEADERS_LIST,
        LOCAL,
        ORIGINS,
        SEEN_CONTEXTS,
        SHOWN_URLS,
        STREAM,
        STREAM_MOCKS,
        STRICT,
        SUBSCRIBE,
        WARNINGS,
    }
)

REQUIRED_BY_AGENTS = (HEADERS_LIST, STREAM, CONTEXT, STRICT)
"""The features without which trafficmock's agent for Node refuses a proxy."""

OF_AGENTS = (
    CONTEXT,
    FAULTS,
    HEADERS_LIST,
    LOCAL,
    ORIGINS,
    SEEN_CONTEXTS,
    STREAM,
    STREAM_MOCKS,
    STRICT,
)
"""The features that trafficmock's agents name in ``hello``."""

OF_WORKERS = (CHAIN, CLOCK, CONTEXT, SHOWN_URLS, STRICT, SUBSCRIBE, WARNINGS)
"""The features that trafficmock's test workers name in ``hello``."""
