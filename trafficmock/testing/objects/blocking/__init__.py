"""The objects of blocking tests, made from the awaited ones by ``python -m tools.blocking_api``.

``traffic_mock``, ``route``, ``route_handle``, ``request``, ``response``, ``stream``,
``websocket_route``, ``expectations`` and ``caller`` are each written from the module ``async_*`` of
the same name in the directory above. They are in the repository so that editors, mypy and the
wheel have them.
"""
