"""The read-only REST API (Klein): ``/health``, ``/api/history``, ``/api/ws``, ``/api/connections``.

``rest_api`` has the routes. A list request is read by ``query_parameters`` and ``path_segments``,
answered by ``json_lists`` from the history, and sent in slices. ``connections_report`` shows who
is connected. Nothing here changes anything.
"""
