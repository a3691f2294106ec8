"""WebSockets that come through the forward proxy.

``websocket_session`` holds the client's handshake (``opening_handshake``) until it is known whose
it is. A test's: ``routed_page`` answers the client, and ``routed_server`` reaches the server where
the test connects; both speak frames by ``frame_stream``, and ``socket_pace`` holds both back.
Nobody's: ``relayed_websocket`` passes the bytes on, and ``frame_tap`` copies the frames for the
history. ``websocket_upstream`` reaches the server in either case. ``event_turns`` takes many frames
over several turns of the reactor; ``message_pieces`` puts the parts of a message together, and
``socket_messages`` has what frames of protocol 3 carry.
"""
