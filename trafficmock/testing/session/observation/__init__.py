"""The requests and responses that a test observes and waits for.

``request_state`` is one request with its response, ``traffic`` all that the test observed or asked
the proxy for, ``waiting`` looks for one among them (``proxy_clock`` tells whether it came before),
and ``diagnosis`` says what did come where a wait ends without it.
"""
