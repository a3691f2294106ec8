"""Decides about requests and WebSockets: gets messages, returns effects; no I/O and no clock.

:class:`trafficmock.core.coordinator.Coordinator` is the front: a message of a connection comes
in, a list of ``effects`` goes out. ``message_handlers`` says which part takes which message;
``invalid_messages`` answers those that cannot be taken or sent. ``hello`` makes an agent or
a worker of a connection (``peers``), ``registration`` takes a worker's tests and routes,
``lost_agents`` and ``ended_tests`` answer those who wait for an agent or a test that is gone. Then

* :mod:`trafficmock.core.ownership` decides which test owns a request or a WebSocket: one, none,
  or several, which is ambiguous;
* :mod:`trafficmock.core.http` handles a request from its announcement to its response;
* :mod:`trafficmock.core.local` tells agents which requests they may let pass without asking;
* :mod:`trafficmock.core.websocket` handles a WebSocket.

``strict_mode`` takes the messages of strict mode. ``lifecycle`` has the
stages of requests and WebSockets, ``timers`` the deadlines, ``settings`` the options,
``error_messages`` the texts for people. Connections are ids here; the driver
(:mod:`trafficmock.server.driver`) holds their sockets.
"""
