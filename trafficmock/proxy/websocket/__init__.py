"""WebSockets that come through the forward proxy.

``websocket_session`` holds the client's handshake (``opening_handshake``) until it is known whose
it is. A test's: ``frame_stream`` speaks frames with the client, and, where the test connects,
``routed_server`` with the server. Nobody's: ``relayed_websocket`` passes the bytes on, and
``frame_tap`` copies the frames for the history. Both reach the server by ``websocket_upstream``.
``event_turns`` takes many frames over several turns of the reactor; ``socket_messages`` has what
frames of protocol 3 carry.
"""
