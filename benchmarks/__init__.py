"""
Benchmarks of the proxy, as a process that clients connect to.

A *target* (:mod:`benchmarks.targets`) is a command that starts a proxy. The
:mod:`~benchmarks.generator` connects clients to it and sends a *load* of requests.
:mod:`~benchmarks.rounds` measures the proxy's process in rounds, *figures*
(:mod:`benchmarks.figures`) are the medians, and a *report* (:mod:`benchmarks.report`)
prints them. Each subcommand of ``python -m benchmarks`` is a module in
:mod:`~benchmarks.commands`; they share ``options`` and ``errors``. The forward proxy has
loads and a subcommand of its own in :mod:`~benchmarks.forward`, and so have streamed mocks in
:mod:`~benchmarks.streams`.

``floor`` and ``handlers`` are separate programs.
"""
