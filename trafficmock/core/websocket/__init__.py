"""A WebSocket of an application, from its opening to its end.

``websocket_routing`` finds the owner and handles closes and failures; ``websocket_relay`` passes
frames and closes between the application and the owner.
"""
