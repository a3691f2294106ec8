"""What messages carry: a request, a response, a route's matcher, each as protocol 3 writes it.

Bodies stay JSON text, which :mod:`~trafficmock.wire.payloads.body` turns into bytes and back.
"""
