"""The local certificate authority, by which the proxy can answer in the place of ``https`` servers.

``authority`` keeps its key and certificate in a directory. ``leaves`` makes the certificate of a
host (a *leaf*), with the name that ``names`` derives from the host. ``files`` writes files
atomically. ``trust_bundle`` writes the authority's certificate into files together with the
certificates that the machine trusts already (``roots``); ``runtime_hints`` lists the settings by
which each runtime trusts these files. The package does not import Twisted; callers pass the time.
"""
