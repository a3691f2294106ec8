"""
What the proxy costs, measured from outside.

A *target* (:mod:`benchmarks.targets`) is any command that starts a proxy. The
:mod:`~benchmarks.generator` connects clients to it and drives a load.
:mod:`~benchmarks.rounds` measures it, *figures* (:mod:`benchmarks.figures`) are what
came out, and a *report* (:mod:`benchmarks.report`) prints them. The subcommands of
``python -m benchmarks`` are one module each in :mod:`~benchmarks.commands`, with the
``options`` and ``errors`` that they share; the forward proxy has its own in
:mod:`~benchmarks.forward`.

``floor`` and ``handlers`` are programs by themselves.
"""
