"""A WebSocket of an application, from its opening to its end.

``websocket_routing`` finds its owner and ends it; ``websocket_relay`` passes frames and closes
between the application and the owner.
"""
