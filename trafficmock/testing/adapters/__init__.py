"""Adapters for the three kinds of tests: blocking, asyncio and Twisted.

An adapter (``blocking_adapter``, ``asyncio_adapter``, ``twisted_adapter``) runs the functions of
a test and calls its session. The connection to the proxy, and with it the session, runs on a thread
of its own (``threaded_connection``, ``background_connection``, on a ``loop_thread``) or on the
reactor (``twisted_connection``). ``tagged_browser`` gives the browser of a test the proxy, or the
cookie, that puts the test's context on its requests.

``proxy_address`` makes the URL of the WebSocket, ``ack_timeout`` reads a limit from the
environment. ``teardown`` raises the errors of a test at its end, and ``pytest_errors`` adds them to
the failure that pytest reports.
"""
