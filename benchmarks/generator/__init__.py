"""
Generates the load on a coordinator.

A *load* (:mod:`benchmarks.generator.loads`) has the numbers of workers, tests and
routes, and the requests. A *session* (:mod:`benchmarks.generator.session`) connects
minimal protocol-3 clients (:mod:`benchmarks.generator.clients`, with
:mod:`benchmarks.generator.websocket_connection` and :mod:`benchmarks.generator.frames`),
which send :mod:`benchmarks.generator.messages`, and sends the load from one
:mod:`benchmarks.generator.event_loop`. A :mod:`~benchmarks.generator.poller` reads the
history meanwhile.
"""
