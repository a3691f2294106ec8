"""The local certificate authority, by which the proxy can answer for ``https`` servers.

``authority`` keeps its key and certificate in a directory, ``leaves`` makes a certificate
for a host, ``names`` says which name stands in it, ``files`` writes without ever showing
half a file. ``trust_bundle`` and ``roots`` put it beside the certificates that a program trusts
already; ``runtime_hints`` says how each runtime is told. Nothing here knows Twisted; the clock
is handed in.
"""
