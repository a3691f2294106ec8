"""The forward proxy: traffic of applications in any language, with the same routes and history.

A request comes in through :mod:`~trafficmock.proxy.downstream` (absolute-form, or behind CONNECT).
:mod:`~trafficmock.proxy.transfer` announces it to the coordinator and, unless a test answers it,
sends it through :mod:`~trafficmock.proxy.upstream` to its server.
:mod:`~trafficmock.proxy.http1` parses and writes heads and bodies.
:mod:`~trafficmock.proxy.websocket` has the WebSockets. ``tunnel`` forwards the bytes behind a
CONNECT that the proxy does not parse; each tunnel is one row in the history (``tunnel_record``).

To the core each client id is one agent, a *proxy client* (``proxy_clients``). It also remembers
redirects, so that the history links a request to the redirect that it follows. The *context* of a
request is the id in its headers by which the core finds the test that caused it
(``http1/context_headers``). A *browser proxy* (:mod:`~trafficmock.proxy.browser_proxy`) is a
forward proxy on a port of its own, for the browser of one test.

All of them use ``request_target`` (the server, path and URL of a request), ``proxy_settings``,
``client_transport`` (the connection to the client) and ``upstream_errors`` (the response when a
server cannot be reached).

Header lines of forwarded requests and responses are dropped in these places:

* ``http1/forwarded_headers``: hop-by-hop fields and the ``Trafficmock-*`` headers of
  ``http1/attached_clients`` (both are in ``HOP_BY_HOP``), and ``Content-Length``,
  ``Transfer-Encoding`` and ``Host``, which the proxy writes itself;
* ``http1/context_headers``: the context of a test. ``ProxyResources.outgoing`` of
  ``proxy_settings`` decides for which servers, ``browser_proxy/context_stamp`` does in a browser
  proxy;
* ``transfer/request_rewriting``: the same fields in overrides and mocks;
* ``transfer/proxied_request``: ``Expect``, if the proxy has said 100 already or the client
  speaks HTTP/1.0;
* ``websocket/opening_handshake``: the ``Sec-WebSocket-*`` fields, where the proxy makes a handshake
  of its own with the server.

For ``route.fetch`` alone:

* ``transfer/route_fetch``: ``Accept-Encoding`` and ``Expect``; after a redirect that changes the
  method, the ``Content-*`` fields; after a redirect to another origin, credentials and cookies;
* ``transfer/upstream_agent``: ``Content-Encoding`` and ``Set-Cookie`` of the response, for treq
  only; the test gets ``Set-Cookie``.

In the copies for tests and the history:

* ``http1/content_codings``: ``Content-Encoding`` and ``Content-Length`` of a body that is decoded;
  the length of the decoded body is written instead.
"""
