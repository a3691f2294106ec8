"""The test side without I/O: one test's routes, waits, traffic and errors.

A ``worker_client`` speaks for one connection to the proxy and hands each message to the
``session`` of its test. :mod:`~trafficmock.testing.session.arguments` reads what the test gave,
:mod:`~trafficmock.testing.session.handlers` runs its handlers,
:mod:`~trafficmock.testing.session.observation` has the traffic that it observes and waits for.
``traffic_context`` is the id on its requests, ``traffic_report`` and ``unowned_text`` are texts for
failed tests. ``ports`` says what a session needs from outside: the connection to the proxy, and a
way to call the functions of the test.
"""
