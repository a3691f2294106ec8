"""The objects of a test: ``TrafficMock``, ``Route``, ``Request``, ``Response``, ``WebSocketRoute``.

Playwright's names and rules; blocking and awaitable variants share one base each:
``traffic_mock``, ``route``, ``request``, ``response``, ``websocket_route``. ``expectations`` are
the ``with`` blocks of ``expect_request`` and the like; ``call_place`` finds the line of the test
that called, for reports.
"""
