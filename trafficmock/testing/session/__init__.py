"""The test side without I/O: one test's routes, waits, traffic and errors.

A ``worker_client`` speaks for one connection to the proxy and hands each message to the
``session`` of its test. ``http_routes`` and ``websocket_routes`` hold the handlers; a
``routed_request`` passes through them to its one decision (``mock_response``,
``handler_fetches``). ``arguments`` reads what the test gave to these. ``traffic`` has the
requests and responses (``request_state``) that ``waiting`` looks for. ``diagnosis``,
``handler_errors`` and ``traffic_report`` explain failures. ``ports`` says what a session needs
from outside: the connection to the proxy, and a way to call the functions of the test.
"""
