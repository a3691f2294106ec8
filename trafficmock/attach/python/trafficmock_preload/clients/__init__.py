"""HTTP and WebSocket clients: the changes by which their connections become tunnels.

Each ``change_…`` function changes a module of a library; it is called once, when the module was
imported. A failure that the proxy reports is raised as the library's own error, made from that of
``failure_errors`` by ``_own_error`` of the module (in ``httplib2_change``: ``own_error``). For
urllib3 and httplib2, which use ``http.client``, ``http_client_change`` calls it, as the attribute
``OWN_ERROR`` of their connections.

* ``http_client_change`` (the standard library), ``urllib3_change``, ``urllib3_future_change``
  (niquests), ``httplib2_change``, ``httpcore_change`` (httpx), ``aiohttp_change``,
  ``twisted_change`` with ``twisted_endpoint``;
* ``websockets_change`` for threads, ``websockets_asyncio_change``, ``websockets_trio_change``;
  ``websocket_client_change``;
* ``refused_requests``: requests and httpx, the proxies that programs give to them, and the classes
  of errors for refused requests;
* ``asyncio_tunnel`` opens tunnels for aiohttp and websockets;
* ``environment_proxies`` removes trafficmock's proxy from the proxies that libraries find in the
  environment.
"""
