"""WebSockets that come through the forward proxy.

``websocket_session`` holds the client's handshake (``opening_handshake``) until a test decides:
mocked (``frame_stream`` speaks to the client), connected or passed through
(``websocket_upstream`` speaks to the server, ``frame_tap`` copies the frames for the history).
"""
