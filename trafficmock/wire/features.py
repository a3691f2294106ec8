"""The features: additions to protocol 3, which ``hello`` names and ``hello:ok`` confirms.

A client that does not name a feature never gets the messages and keys of that feature.
"""

CHAIN = "chain"
"""The coordinator runs the handlers of a request in their order; workers run single functions."""

CLOCK = "clock"
"""Messages to workers have the time at which the coordinator received a request."""

CONDITIONS = "conditions"
"""Matchers have conditions on query, headers and bodies."""

CONTEXT = "context"
"""Each test has a context, an id that its requests carry in a header, and agents report it."""

DIAGNOSIS = "diagnosis"
"""Workers can list the requests that came instead of those that a test waited for."""

FAULTS = "faults"
"""Agents break answers, mocked or real, as a failing server does, and slow real ones down."""

GLOBS = "globs"
"""The coordinator reads the globs of workers: it has the base URL, and refuses invalid ones."""

HEADERS_LIST = "headers-list"
"""Requests and responses have ``headersList``, which keeps the order and repeats of headers."""

LIVENESS = "liveness"
"""A second connection of a worker answers pings while the first is not read."""

LOCAL = "local"
"""Agents have a filter: they let requests pass without asking that no route can match."""

MARKS = "marks"
"""Workers make the marks of secrets as the coordinator does."""

ORIGINS = "origins"
"""Agents say where requests without a context are sent from, while tests with contexts run."""

REPLY = "reply"
"""Routes have fixed responses (replies), with which the coordinator answers by itself."""

REPORT = "report"
"""Workers can read all that the history has of a test, for the report of a run."""

SEEN_CONTEXTS = "seen-contexts"
"""Agents tell of each context that comes into their process, also by a request that sends none."""

SHOWN_URLS = "shown-urls"
"""Workers get URLs with secrets also with marks in their place, as they may be printed."""

STREAM = "stream"
"""Agents announce requests, and report responses, before their bodies."""

STREAM_MOCKS = "stream-mocks"
"""A handler answers piece by piece; the pieces are acknowledged by the application's process."""

STRICT = "strict"
"""Strict tests and runs refuse requests that no route matches; agents know that error code."""

SUBSCRIBE = "subscribe"
"""Workers get the events of all traffic only after ``test:subscribe``."""

WAITS = "waits"
"""The coordinator ends the waits of tests: by what met them, or with what came instead."""

WARNINGS = "warnings"
"""Workers get warnings about tests, which do not fail them."""

ALL = frozenset(
    {
        CHAIN,
        CLOCK,
        CONDITIONS,
        CONTEXT,
        DIAGNOSIS,
        FAULTS,
        GLOBS,
        HEADERS_LIST,
        LIVENESS,
        LOCAL,
        MARKS,
        ORIGINS,
        REPLY,
        REPORT,
        SEEN_CONTEXTS,
        SHOWN_URLS,
        STREAM,
        STREAM_MOCKS,
        STRICT,
        SUBSCRIBE,
        WAITS,
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

OF_WORKERS = (
    CHAIN,
    CLOCK,
    CONDITIONS,
    CONTEXT,
    DIAGNOSIS,
    HEADERS_LIST,
    MARKS,
    REPLY,
    REPORT,
    STREAM_MOCKS,
    STRICT,
    SUBSCRIBE,
    WAITS,
    WARNINGS,
)
"""The features that trafficmock's test workers name in ``hello``."""
