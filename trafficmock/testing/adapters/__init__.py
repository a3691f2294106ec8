"""The ways of writing tests: blocking, asyncio and Twisted.

An adapter (``blocking_adapter``, ``asyncio_adapter``, ``twisted_adapter``) runs the functions of
a test and calls its session. The session's connection to the proxy lives on a thread of its own
(``threaded_connection``, ``background_connection``, on a ``loop_thread``) or on the reactor
(``twisted_connection``). ``tagged_browser`` gives the browser of a test the proxy, or the cookie,
that puts the test's context on its requests.

``proxy_address`` and ``ack_timeout`` read the environment. ``teardown`` raises what is left at the
end of a test, and ``pytest_errors`` puts it into the failure that pytest reports.
"""
