"""
What puts load on a coordinator.

A *load* (:mod:`benchmarks.generator.loads`) says how many agents, workers, tests and
routes talk to it and what they send. A *session* (:mod:`benchmarks.generator.session`)
connects raw protocol-3 clients (:mod:`benchmarks.generator.clients`, over
:mod:`benchmarks.generator.websocket_connection` and :mod:`benchmarks.generator.frames`),
which send :mod:`benchmarks.generator.messages`, and drives the load from one
:mod:`benchmarks.generator.event_loop`. A :mod:`~benchmarks.generator.poller` reads the
history meanwhile.
"""
