"""The forward proxy: applications in any language, under the same routes and history.

A request comes in through :mod:`~trafficmock.proxy.downstream` (absolute-form, or behind CONNECT),
is announced to the coordinator by :mod:`~trafficmock.proxy.transfer`, and, unless a test answers
it, goes out through :mod:`~trafficmock.proxy.upstream`. Heads and bodies are read and written by
:mod:`~trafficmock.proxy.http1`; WebSockets are :mod:`~trafficmock.proxy.websocket`; ``tunnel``
carries what nobody reads, which is one row in the history (``tunnel_record``). To the core each
client id is one agent (``proxy_clients``, which also remembers redirects, to link the request that
follows one to the request that got it).
A *door* (:mod:`~trafficmock.proxy.door`) is a proxy on a port of its own, for the browser of one
test.

All of them use ``request_target`` (what a request asks for), ``hosts_under_test``,
``proxy_settings``, ``client_transport`` (the connection to the client) and ``upstream_errors``
(the answer when a server cannot be reached).

Header lines of requests and responses on their way are dropped in these places:

* ``http1/forwarded_headers``: hop-by-hop fields and the ``Trafficmock-*`` headers of
  ``http1/attached_clients`` (both are in ``HOP_BY_HOP``), and the fields about length and host,
  which the proxy writes itself;
* ``http1/context_headers``: the context of a test; ``ProxyContext.outgoing`` of ``proxy_settings``
  decides for which servers, and ``door/context_stamp`` at the door of a test;
* ``transfer/request_rewriting``: the same fields of overrides and mocks, and a
  ``Content-Encoding`` that a mock's body does not have;
* ``transfer/proxied_request``: ``Expect`` where the body is there already;
* ``websocket/opening_handshake``: the fields that the handshake with a server has of its own.

For ``route.fetch`` alone:

* ``transfer/route_fetch``: ``Accept-Encoding`` and ``Expect``; after a redirect that changes the
  method, the fields about content; after a redirect to another origin, credentials and cookies;
* ``transfer/upstream_agent``: ``Content-Encoding`` and ``Set-Cookie`` in what treq is shown; the
  test gets ``Set-Cookie``.

In what tests and the history see:

* ``http1/content_codings``: the coding and the length of a body that is decoded for them; the
  length of the decoded body is written instead.
"""
