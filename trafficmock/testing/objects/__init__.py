"""The objects of a test: ``TrafficMock``, ``Route``, ``Request``, ``Response``, ``WebSocketRoute``.

They have the names and rules of Playwright. The modules ``async_*`` have those of asyncio and
Twisted tests: ``async_traffic_mock``, ``async_route``, ``async_route_handle``, ``async_request``,
``async_response`` and ``async_websocket_route``. ``async_stream`` has the answers that a test
writes piece by piece, which are not Playwright's, ``async_expectations`` the blocks of
``expect_request`` and ``expect_response``, and ``async_caller`` is what they ask of the adapter.
``blocking`` has those of blocking tests, made from them.

Both share ``context``, the part of the mocks that concerns the context; ``given_bodies`` for bodies
that are iterables; ``sent_options``, which makes the options of an answer ready for the
proxy; ``call_place``, which finds the line of the test that called, for reports and for the warning
of an incomplete list; and ``sent_contexts``, which sees which servers the clients of a test send
its context to.
"""
