"""The test side without I/O: one test's routes, waits, traffic and errors.

A ``worker_client`` is the protocol side of one connection to the proxy and passes each message to
the ``session`` of its test. :mod:`~trafficmock.testing.session.arguments` reads the arguments of
the test's calls, :mod:`~trafficmock.testing.session.handlers` runs its handlers,
:mod:`~trafficmock.testing.session.observation` has the traffic that it observes and waits for.
``options_of_test`` are its settings, as tests give them;
``traffic_context`` is the id on its requests, ``traffic_report`` and ``unowned_text`` are texts for
failed tests. ``required_routes`` fails a test with a route that no request met; ``har_use`` is
what a test has used of a HAR. ``ports`` has the
interfaces that a session needs: the connection to the proxy, and an adapter that calls the
functions of the test.
"""
