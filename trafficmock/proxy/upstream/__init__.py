"""Connections to servers.

``dialer`` makes the endpoint of a server: direct, with the address of ``--resolve``, or through
another proxy (``connect_endpoint``). ``sealed_dialer`` refuses a sealed command the servers of this
machine. ``resolver`` resolves host names that IDNA forbids; ``connect_attempts`` tries the next
address of a host as soon as one failed. ``server_verification`` verifies certificates.
``server_protocols`` finds out which servers accept no HTTP/1.1. ``upstream_connection`` speaks
HTTP/1.1; ``connection_pool`` opens connections and keeps them for later requests,
``tied_upstream`` keeps that of a tunnel.
"""
