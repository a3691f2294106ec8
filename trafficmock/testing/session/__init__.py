"""The test side without I/O: one test's routes, requests, waiters and errors.

``worker_client`` speaks for one connection to the proxy and hands each message to the ``session``
of its test. ``http_routes`` and ``websocket_routes`` hold the handlers; an ``routed`` takes one
request through them to its one decision, ``handler_fetches`` asks for upstream answers on the way.
``observation`` and ``waiters`` answer what came and what is awaited; ``diagnosis``,
``handler_errors`` and ``traffic_report`` say what went wrong.
"""
