"""The ways of writing tests: blocking, asyncio and Twisted.

An adapter (``blocking_adapter``, ``asyncio_adapter``, ``twisted_adapter``) runs the functions of
a test and calls its session. The session's connection to the proxy is a thread of its own
(``background_connection``, on a ``loop_thread``) or the reactor's (``twisted_connection``).
"""
