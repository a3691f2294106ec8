"""The parts of messages, in the form of protocol 3.

``serialized_request``, ``serialized_response`` and ``serialized_matcher`` are a request, a response
and the matcher of a route; ``handler_action`` is the decision of a handler, ``refused_request`` a
request that strict mode refused. ``numbers`` has the ranges of numbers in JavaScript.

Bodies stay JSON text, which :mod:`~trafficmock.wire.payloads.body` decodes and encodes.
"""
