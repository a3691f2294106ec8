"""How handlers run and calls return: on threads, on an asyncio loop, or on the reactor.

Each adapter has a connection to the proxy and runs the functions of the test.
"""
