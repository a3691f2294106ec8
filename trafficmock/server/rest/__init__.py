"""The read-only REST API (Klein): ``/health``, ``/api/history``, ``/api/ws``, ``/api/connections``.

``rest_api`` has the routes. ``path_segments`` decodes ids in paths and ``query_parameters`` the
parameters of a list; ``json_lists`` writes lists and entries of the history in chunks, which are
sent in slices of time. ``connections_report`` makes the body of ``/api/connections``.
"""
