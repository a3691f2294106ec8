"""Reads and checks the arguments of a test's calls, before anything is sent.

``url_matchers`` reads the arguments that select requests, ``match_conditions`` those of them that
look at more than the URL, of which ``value_checks`` calls the functions; ``js_patterns`` writes
patterns for the proxy. ``flags`` checks what is true or false. ``allow_patterns`` reads
the hosts that strict mode lets through, ``headers`` and ``request_overrides`` the changes of a
handler, and ``stream_parts`` makes bytes of what a test writes.
``callables`` checks, names and calls the functions of the test.
"""
