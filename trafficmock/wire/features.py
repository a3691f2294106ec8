"""The additions to protocol 3, which ``hello`` names and ``hello:ok`` confirms.

A client that does not name a feature never sees the messages and keys that belong to it.
"""

AGENTS = "agents"
"""Workers may ask which agents are connected."""

CLOCK = "clock"
"""Workers are told when the coordinator took note of a request."""

CONTEXT = "context"
"""Tests give their traffic a context, and agents say which context a request carries."""

DECLINE = "decline"
"""Workers give requests back with ``request:decline`` when their handler falls through."""

HEADERS_LIST = "headers-list"
"""Clients keep the order and repeats of headers."""

LIVENESS = "liveness"
"""A second connection of a worker answers pings while its first is not read."""

LOCAL = "local"
"""Agents let requests pass without asking that no route can match."""

REPLY = "reply"
"""Workers leave fixed answers to routes with the coordinator."""

STREAM = "stream"
"""Agents announce requests, and report responses, before their bodies."""

STRICT = "strict"
"""Tests and runs refuse requests that no route wants, and agents know that error."""

SUBSCRIBE = "subscribe"
"""Workers ask for the events of all traffic and are sent none before."""

ALL = frozenset(
    {
        AGENTS,
        CLOCK,
        CONTEXT,
        DECLINE,
        HEADERS_LIST,
        LIVENESS,
        LOCAL,
        REPLY,
        STREAM,
        STRICT,
        SUBSCRIBE,
    }
)

OF_AGENTS = (CONTEXT, HEADERS_LIST, LOCAL, STREAM, STRICT)
"""What trafficmock's agent names."""

OF_WORKERS = (AGENTS, CLOCK, CONTEXT, DECLINE, HEADERS_LIST, REPLY, STRICT, SUBSCRIBE)
"""What trafficmock's test workers name."""
