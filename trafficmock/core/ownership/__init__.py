"""Which test owns a request or a WebSocket.

``registry`` keeps the tests and their routes, and tells which of them match. ``owner_resolution``
decides: an owner, nobody, or an error because several tests match (``ambiguous_route``). Where
only a test's own worker can tell, the tests are asked in a round (``claims``).
``owner_timeout`` takes what it owns from a worker that is blocked or stopped.
"""
