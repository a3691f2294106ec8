"""The parts of messages, in the form of protocol 3.

``serialized_request``, ``serialized_response`` and ``serialized_matcher`` are a request, a response
and the matcher of a route; ``handler_action`` is the decision of a handler, ``refused_request`` a
request that strict mode refused, and ``similar_requests`` those that came instead of the ones that
a test waited for. ``numbers`` has the ranges of numbers in JavaScript.

Bodies stay JSON text, which :mod:`~trafficmock.wire.payloads.body` decodes and encodes.
"""
