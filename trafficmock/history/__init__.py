"""The history: a bounded list of requests and WebSockets, which REST reads.

The driver passes each event (:mod:`trafficmock.records`) to the **history**
(:mod:`~trafficmock.history.store`), where ``request_recorder`` or ``websocket_recorder`` writes
it into an **entry** (:mod:`~trafficmock.history.entry`; ``request_entry``,
``websocket_entry``): there is one for each request and each WebSocket. The entries are in two
sets of **rows** (:mod:`~trafficmock.history.rows`), which share one **budget** of bytes for bodies
and frames. ``stored_messages`` keeps the body of a request or response apart from its head.
REST selects entries by a **query**
(:mod:`~trafficmock.history.query`, :mod:`~trafficmock.history.search`) and sends them
as JSON **records** (:mod:`~trafficmock.history.rest_records`), or one of them as a HAR
(:mod:`~trafficmock.history.har`). Requests,
WebSockets and decisions are counted whatever is kept, by host, test and worker
(``traffic_counts``).

A **part** is a body or a frame that counts in the budget; the **head** of an entry is the rest: its
ids, URL, headers and texts. Nothing here reads a clock, logs or waits: times are arguments, in
epoch milliseconds.
"""
