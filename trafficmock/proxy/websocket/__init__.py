"""WebSockets that come through the forward proxy.

``websocket_session`` holds the client's handshake (``opening_handshake``) until the coordinator
has decided which test owns the WebSocket. As in Playwright's ``WebSocketRoute``, the application's
side is called the *page*. If a test owns it, ``routed_page`` answers the application and
``routed_server`` connects with the server when the test does; both send and receive messages by
``frame_stream``, with the backpressure of ``socket_pace``. If no test does, ``relayed_websocket``
forwards the bytes, and ``frame_tap`` reads the frames for the history. ``websocket_upstream`` is
the connection to the server in either case.

``event_turns`` handles many frames over several turns of the reactor; ``message_pieces`` joins the
parts of a message; ``socket_messages`` converts messages to those of protocol 3.
"""
