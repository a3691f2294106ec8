"""The objects of a test: ``TrafficMock``, ``Route``, ``Request``, ``Response``, ``WebSocketRoute``.

Playwright's names and rules; blocking and awaitable variants share one base each.
"""
