"""What messages carry, as protocol 3 writes it.

``serialized_request``, ``serialized_response`` and ``serialized_matcher`` are a request, a response
and the matcher of a route; ``handler_action`` is what a handler decides, ``refused_request`` what
strict mode refused. ``numbers`` are those that JavaScript has.

Bodies stay JSON text, which :mod:`~trafficmock.wire.payloads.body` turns into bytes and back.
"""
