"""Connections to servers.

``dialer`` opens one: directly, by ``--resolve`` (``resolver``) or through another proxy
(``connect_endpoint``); ``connect_attempts`` tries the next address of a host as soon as one
failed. ``server_verification`` checks the certificate; ``upstream_connection`` speaks HTTP/1.1 on
the connection; ``connection_pool`` keeps it for the next request.
"""
