"""The running service: one process and one port for REST, ``/ws`` and the forward proxy.

Bytes come in through ``site`` (:mod:`~trafficmock.proxy.downstream.protocol_sniffing` looks at the
first of them), which hands a connection to the forward proxy or, by ``root_resource``, to

* :mod:`trafficmock.server.rest`: the read-only REST API over the history, whose requests
  ``http_channel`` reads within limits;
* :mod:`trafficmock.server.websocket`: the coordinator's WebSocket ``/ws``.

``driver`` gives each message to the core (:mod:`trafficmock.core`) and performs the effects that
come back: messages out, history, log (``event_log``), wake-ups. ``message_kinds`` lists what it
sends in another way. ``worker_queries`` answers workers that ask for the history. A client within
the process is a ``local_client``; ``strict_tunnels`` asks the core about tunnels that the forward
proxy does not read. ``strict_file`` keeps strict mode in force over a restart. ``service`` starts
and stops all of it; ``options`` reads the command line (``service_options`` are those that the
dashboard has too).
:mod:`trafficmock.server.process` has what the process needs besides: how it starts, logs, and
tells that it listens.
"""
