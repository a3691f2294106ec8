"""The handlers of a test, and the requests and WebSockets that they decide.

``http_routes`` and ``websocket_routes`` hold the handlers, newest first; a ``fixed_answer`` stands
in the place of one. A ``routed_request``
passes through them to its one decision: ``mock_response`` reads what ``fulfill`` was given,
``handler_fetches`` awaits what was asked upstream, and ``handler_errors`` explains what failed.
"""
