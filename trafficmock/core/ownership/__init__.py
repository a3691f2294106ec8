"""Which test owns a request or a WebSocket.

``registry`` keeps the tests, their routes, and the fixed answers of routes (``kept_reply``), and
tells which of them match. ``owner_resolution`` decides: an owner, nobody, or an error because
several tests match (``ambiguous_route``, worded by ``ambiguity``). Where only a test's own worker
can tell, the tests are asked in a round (``claims``). ``contexts`` knows which test a request was
made for. ``door_origins`` checks the origins for which the proxy of a test's browser writes the
context. ``owner_timeout`` takes what it owns from a worker that is blocked or stopped.

``strictness`` decides whether strict mode refuses a request that no route wants. ``refusals``
words the refusal, with the route that comes closest (``nearest_route``), and ``unowned_refusals``
lists the refused requests that belong to no test. ``lost_runs`` are strict runs whose
worker was lost; ``kept_strictness`` is what the next process on the same port takes over.
"""
