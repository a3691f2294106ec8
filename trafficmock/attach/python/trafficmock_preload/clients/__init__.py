"""Clients of HTTP, one module for each family: their connections become tunnels.

Each ``change_…`` function takes a module of a library that was just imported. It is called once.
A failed request is raised as the library's own error, made from that of ``failure_errors``:
``_own_error`` of the module makes it (in ``httplib2_change``: ``own_error``). For urllib3 and
httplib2, which use ``http.client``, ``http_client_change`` calls it, by their ``OWN_ERROR``.

* ``http_client_change`` (the standard library), ``urllib3_change``, ``httplib2_change``,
  ``httpcore_change`` (httpx), ``aiohttp_change``, ``twisted_change`` with ``twisted_endpoint``;
* ``websockets_change`` for threads, ``websockets_asyncio_change`` with ``asyncio_tunnel``,
  ``websockets_trio_change``; ``websocket_client_change``;
* ``environment_proxies`` keeps libraries from taking the proxy from the environment as well.
"""
