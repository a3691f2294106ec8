"""
The subcommands of ``python -m benchmarks``.

Against the npm proxy: ``compare``. Against ourselves: ``instructions`` (before a change and
after it), ``routes``, ``contexts``, ``replies``, ``polling``, ``memory``, ``upstream_clients``,
``door`` (with ``dev_server.mjs``). ``profiling`` shows where the time goes.
"""
