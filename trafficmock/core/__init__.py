"""The coordinator: decides about requests and WebSockets, without I/O and without a clock.

:class:`trafficmock.core.coordinator.Coordinator` takes the messages of connections and returns
lists of ``effects``, which the driver (:mod:`trafficmock.server.driver`) performs. Connections are
ids here; the driver has their sockets. ``message_handlers`` maps each message to the method that
handles it; ``invalid_messages`` handles messages that cannot be decoded or sent. ``hello`` makes
a connection an agent or a worker, ``registration`` registers the tests and routes of
workers, ``ended_tests`` says step by step what the end of a test does, and ``lost_agents`` answers
the peers that wait for an agent that disconnected.

* :mod:`trafficmock.core.state` is what it knows;
* :mod:`trafficmock.core.ownership` decides which test owns a request or a WebSocket: one, none,
  or several, which is ambiguous;
* :mod:`trafficmock.core.har` finds the answer to a request in the HAR of a route;
* :mod:`trafficmock.core.http` handles a request from its announcement to its response;
* :mod:`trafficmock.core.isolation` says where a request lost the context of its test;
* :mod:`trafficmock.core.answers` gives requests their answers;
* :mod:`trafficmock.core.local` tells agents which requests they may let pass without asking;
* :mod:`trafficmock.core.waits` ends the waits of tests for requests and responses;
* :mod:`trafficmock.core.websocket` handles a WebSocket.

``shared_state`` has what these rules share, ``strict_mode`` handles the messages of strict mode.
``deadlines`` has all that is done later, ``planned_steps`` what of it is a step of a request,
``owner_timeouts`` the owners whose worker is blocked or stopped, ``heartbeat`` the pings,
``settings`` the options, ``error_messages`` the texts for users.

The **owner** of a request is the test that decides about it. A request is **settled** when it is
decided, or was cancelled. An **observer** is a worker that gets the events of traffic. The
**upstream** is the server that a request was made for.
"""
