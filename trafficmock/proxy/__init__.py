"""The forward proxy: applications in any language, under the same routes and history.

A request comes in through :mod:`~trafficmock.proxy.downstream` (absolute-form, or behind CONNECT),
is announced to the coordinator by :mod:`~trafficmock.proxy.transfer`, and, unless a test answers
it, goes out through :mod:`~trafficmock.proxy.upstream`. Heads and bodies are read and written by
:mod:`~trafficmock.proxy.http1`; WebSockets are :mod:`~trafficmock.proxy.websocket`; ``tunnel``
carries what nobody reads. To the core each client id is one agent (``proxy_clients``).
"""
