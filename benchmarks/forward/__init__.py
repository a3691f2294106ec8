"""
The forward proxy, measured beside mitmproxy.

An :mod:`~benchmarks.forward.upstream` server of its own process answers; *clients*
(:mod:`benchmarks.forward.clients`) keep a number of connections through the proxy
busy; a *session* (:mod:`benchmarks.forward.session`) is all of them under one load
(:mod:`benchmarks.forward.loads`). :mod:`benchmarks.forward.targets` starts both
proxies (``addons`` are mitmproxy's, ``mocker`` answers for ours), and
:mod:`benchmarks.forward.command` is the subcommand.
"""
