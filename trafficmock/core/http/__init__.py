"""A paused HTTP request, from its announcement to the report about its response.

``request_routing`` takes the announcement and finds the owner, and ``observation`` says who else is
told of it, and when it came. ``deferred_bodies`` waits for a
body that comes later. ``replies`` answers by the fixed answer of a route. Otherwise
``handler_results`` takes what the owner's handler says. ``response_rules`` checks mocks (status,
headers, size), and ``decisions`` settles the request.
A request that was sent upstream is in ``awaited_reports`` until ``response_reports`` has its end;
``redirect_hops`` takes the requests that redirects lead to.
"""
