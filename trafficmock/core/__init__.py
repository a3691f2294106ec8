"""Decides who gets what: events in, effects out, no I/O and no clock.

:class:`trafficmock.core.coordinator.Coordinator` is the front: a message of a connection comes
in, a list of ``effects`` goes out. ``hello`` makes an agent or a worker of a connection
(``peers``). ``registration`` keeps the tests and routes in the ``registry``. A request is
announced in ``request_routing``, a WebSocket in ``websocket_routing``: tests that may want it
are asked in a round (``claims``), and ``routing`` decides: an owner, none, or ambiguous.
``handler_results`` takes what the owner says, ``response_rules`` checks its mocks, ``decisions``
settles the request, and ``response_reports`` follows it upstream. ``lifecycle`` has the states,
``timers`` and ``owner_timeout`` have the deadlines. Connections are ids here; the driver
(:mod:`trafficmock.server.driver`) holds their sockets.
"""
