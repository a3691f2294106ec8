"""The handlers of a test, and the requests and WebSockets that they decide.

``http_routes`` and ``websocket_routes`` hold the handlers, newest first; a ``stream_route`` is the
handler of ``stream``, and a ``written_stream`` the answer that a handler writes piece by piece. A
``routed_request`` passes through the handlers to its one decision. ``handler_fetches``
tracks the fetches of handlers, and ``handler_errors`` adds places and advice to their errors.
"""
