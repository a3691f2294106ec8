"""The running service: one process and one port for REST, ``/ws`` and the forward proxy.

Connections come in through ``site``. By their first bytes
(:mod:`~trafficmock.proxy.downstream.protocol_sniffing`) they go to the forward proxy or, by
``root_resource``, to

* :mod:`trafficmock.server.rest`: the read-only REST API over the history, whose requests
  ``http_channel`` parses;
* :mod:`trafficmock.server.websocket`: the coordinator's WebSocket ``/ws``.

``driver`` passes each message to the core (:mod:`trafficmock.core`) and performs the effects that
it returns: messages to clients, records in the history, log lines (``event_log``), wake-ups.
``shown_urls`` adds to messages what of a URL may be printed, as ``written_texts`` does for the
core's texts. ``worker_queries`` answers workers that query the history, for reports by
:mod:`trafficmock.server.reports`;
:mod:`trafficmock.server.diagnosis` finds the requests that came instead of those that a test waited
for, and ``recorded_content`` gives it their headers and bodies.
``local_client`` is the interface of a client in this process, such as the forward proxy;
``strict_tunnels`` applies strict mode to its tunnels.

``service`` starts and stops everything; ``options`` reads the command line, of which
``service_options`` has the part that the dashboard shares.
:mod:`trafficmock.server.process` has the start of the process, its log, and its notifications.
"""
