"""Connections to servers.

``dialer`` opens one: directly, by ``--resolve`` (``resolver``) or through another proxy
(``connect_endpoint``); ``server_verification`` checks its certificate; ``upstream_connection``
speaks HTTP/1.1 on it; ``connection_pool`` keeps it for the next request.
"""
