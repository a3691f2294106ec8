"""The requests and responses that a test observes and waits for.

``request_state`` is one request with its response. ``traffic`` has the requests that the test
observed and those of the proxy's history. ``waiting`` has the waits for one of them, which the
proxy ends; ``proxy_clock`` tells it when a wait began. ``diagnosis`` describes the requests that
came instead, which the proxy compares.
"""
