"""The parts of messages, in the form of protocol 3.

``serialized_request``, ``serialized_response``, ``serialized_matcher`` and ``serialized_har`` are a
request, a response, the matcher and the HAR of a route; ``answer`` is what a request gets,
``answer_options`` what a test writes of it, and ``abort_codes`` has the errors with which one fails
a request. ``application_origins`` says to which servers a test's context goes. ``request_origin``
is where a request without a context was sent from. ``refused_request`` is a request that strict
mode refused, and ``unmet_routes`` has those that no request met, for the report of a failing test.
``welcome`` has parts of ``hello:ok``. ``numbers`` has the ranges of numbers in JavaScript.
``quiet_repr`` shows none of the texts of traffic. Bodies stay JSON text, which
:mod:`~trafficmock.wire.payloads.body` decodes and encodes; ``har_text`` does so for those of a HAR.
"""
