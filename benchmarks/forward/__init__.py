"""
The forward proxy, measured beside mitmproxy.

An :mod:`~benchmarks.forward.upstream` server of its own process answers; *callers*
(:mod:`benchmarks.forward.callers`) keep a number of connections through the proxy
busy; a *crowd* (:mod:`benchmarks.forward.crowd`) is all of them under one load
(:mod:`benchmarks.forward.loads`). :mod:`benchmarks.forward.targets` starts both
proxies, and :mod:`benchmarks.forward.command` is the subcommand.
"""
