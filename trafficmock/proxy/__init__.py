"""The forward proxy: applications in any language, under the same routes and history.

A request comes in through :mod:`~trafficmock.proxy.downstream` (absolute-form, or behind CONNECT),
is announced to the coordinator by :mod:`~trafficmock.proxy.transfer`, and, unless a test answers
it, goes out through :mod:`~trafficmock.proxy.upstream`. Heads and bodies are read and written by
:mod:`~trafficmock.proxy.http1`; WebSockets are :mod:`~trafficmock.proxy.websocket`; ``tunnel``
carries what nobody reads. To the core each client id is one agent (``proxy_clients``, which also
remembers redirects, to link the request that follows one to the request that got it).
:mod:`~trafficmock.proxy.door` opens a proxy for one test's browser.

All of them use ``request_target`` (what a request asks for), ``hosts_under_test``,
``proxy_settings``, ``client_transport`` (the connection to the client) and ``upstream_errors``
(the answer when a server cannot be reached).

Header lines are dropped in these places:

* ``http1/forwarded_headers``: hop-by-hop fields, and those about length and host, which the proxy
  writes itself;
* ``http1/context_headers``: the context of a test; ``ProxyContext.outgoing`` of ``proxy_settings``
  decides for which servers, and ``door/context_stamp`` at the door of a test;
* ``transfer/request_rewriting``: the same fields of overrides and mocks, and a
  ``Content-Encoding`` that a mock's body does not have;
* ``transfer/proxied_request``: ``Expect`` where the body is there already;
* ``websocket/opening_handshake``: what the handshake with a server has of its own.
"""
