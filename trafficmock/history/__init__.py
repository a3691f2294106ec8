"""The history: a bounded list of requests and WebSockets, which REST reads.

The driver gives the **history** (:mod:`~trafficmock.history.store`) each record
(:mod:`trafficmock.records`) of what happened; ``request_recorder`` and ``websocket_recorder`` take
it. The history keeps an **entry** (:mod:`~trafficmock.history.entry`; ``request_entry``,
``websocket_entry``) for each request and WebSocket in two sets of **rows**
(:mod:`~trafficmock.history.rows`), which share one **budget**
(:mod:`~trafficmock.history.budget`) for bodies (``stored_bodies``) and frames.
REST asks with a **query**
(:mod:`~trafficmock.history.query`, :mod:`~trafficmock.history.search`) and sends entries
as JSON **records** (:mod:`~trafficmock.history.rest_records`), or one of them as a HAR
(:mod:`~trafficmock.history.har_export`, ``har_cookies``).

Nothing here reads a clock, logs or waits: times are arguments, in epoch milliseconds.
"""
