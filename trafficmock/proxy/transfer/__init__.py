"""One proxied request: announced to the coordinator, decided, carried to the server and back.

``proxied_request`` is the request as the coordinator knows it, ``held_body`` its body until it is
decided. ``upstream_transfer`` carries it to the server and the answer back, neither ever held
whole; ``transfer_report`` and ``body_capture`` tell the history what passed;
``body_decoding`` decodes coded bodies, large ones over several turns of the reactor.
``request_rewriting`` applies what a test changed. ``route_fetch`` serves ``route.fetch`` by treq,
over the connections of ``upstream_agent``.
"""
