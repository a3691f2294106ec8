"""Clients of HTTP, one module for each family: how their connections become tunnels.

Each ``change_…`` function takes a module of a library that was just imported. It is called once.

* ``http_client_change`` (the standard library), ``urllib3_change``, ``httplib2_change``,
  ``httpcore_change`` (httpx), ``aiohttp_change``, ``twisted_change`` with ``twisted_endpoint``;
* ``websockets_change`` and ``websockets_asyncio_change`` with ``asyncio_tunnel``,
  ``websocket_client_change``;
* ``environment_proxies`` keeps libraries from taking the proxy from the environment as well.
"""
