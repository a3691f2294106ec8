"""One proxied request: announced to the coordinator, decided, sent to the server and answered.

``proxied_request`` announces the request, buffers its body until the decision, and carries that
out. ``upstream_transfer`` streams the request to the server and the response back, and reports
both to the coordinator, with the copies of ``body_capture``, which ``body_decoding`` decodes,
large ones over several turns of the reactor. ``request_rewriting`` applies overrides and writes
mocked responses, ``streamed_mock`` those that come piece by piece, ``faulty_mock`` those that
break. ``answer_changes`` breaks real answers, or slows them down. ``route_fetch`` serves
``route.fetch`` by treq, over the connections of ``upstream_agent``;
``body_arrival`` has the times of its body. ``request_states`` has the tables of the states of a
request, its body and its transfer.

Three objects have three lives. A ``ProxiedRequest`` lives from the head of a request to the end of
its answer, and belongs to the client's connection. Before the decision, a test may begin any number
of ``RouteFetch``, which get whole answers over connections of their own. The decision to send the
request makes its only ``UpstreamTransfer``, which gets a connection, sends the request, waits for
the head and streams the body; it ends with the answer, an error, a fault, or with the client.
"""
