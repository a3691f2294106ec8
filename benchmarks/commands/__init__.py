"""
The subcommands of ``python -m benchmarks``.

``compare`` measures our proxy and the npm proxy. The others measure ours under different
conditions: ``instructions`` before and after a change, ``routes``, ``contexts``, ``replies``,
``polling``, ``memory``, ``upstream_clients``, ``export`` (to ``collector_sink``), and
``browser_proxy`` (with ``dev_server.mjs``). ``profiling`` prints the functions that use the CPU,
``calls`` counts those that a request calls. ``origins`` measures a Python process that is attached.
"""
