"""
Real clients through the forward proxy: a table of client by feature, each cell run.

A *program* (:mod:`tests.interop.clients.programs`) is one HTTP client in a process of its own,
started with nothing but the environment that ``trafficmock env`` prints. It does what it
is told on its standard input and says what came of it. What a feature is, and what must
come of it, stands in :mod:`tests.interop.clients.features`.
"""
