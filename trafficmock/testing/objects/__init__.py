"""The objects of a test: ``TrafficMock``, ``Route``, ``Request``, ``Response``, ``WebSocketRoute``.

They have the names and rules of Playwright. The blocking and the awaitable class of each share a
base: ``traffic_mock`` (with ``context``; ``async_traffic_mock`` has the awaitable one), ``route``,
``route_handle``, ``request``, ``response``, ``websocket_route``. ``stream`` has the answers that a
test writes piece by piece, which are not Playwright's. ``expectations`` has the ``with`` blocks of
``expect_request`` and ``expect_response``. ``call_place`` finds the line of the test that called,
for reports;
``capture_warning`` warns of an incomplete list; ``sent_contexts`` sees which servers the clients of
a test send its context to.
"""
