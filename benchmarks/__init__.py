"""
What the proxy costs, measured from outside.

A *target* (:mod:`benchmarks.targets`) is any command that starts a proxy. A
*load* (:mod:`benchmarks.loads`) says how many agents, workers, tests and routes
talk to it and what they send. A *session* (:mod:`benchmarks.session`) connects
raw protocol-3 clients (:mod:`benchmarks.clients`, over
:mod:`benchmarks.websocket_connection` and :mod:`benchmarks.frames`) to a target and
drives the load from one :mod:`benchmarks.event_loop`; *figures*
(:mod:`benchmarks.figures`) are what came out; a *report* (:mod:`benchmarks.report`)
prints them. The subcommands of
``python -m benchmarks`` are one module each.
"""
