"""Who decides: events in, effects out, no I/O, no clock.

:class:`trafficmock.core.coordinator.Coordinator` is the front. It keeps the
parties (``parties``), the tests and routes (``registry``), the rounds in which
tests are asked (``claims``), and the lives of requests (``requests``,
``reports``) and WebSockets (``sockets``). Connections are ids here; who holds
the socket is the driver's business.
"""
