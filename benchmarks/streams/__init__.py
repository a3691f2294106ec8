"""
Benchmarks of streamed mocks: memory of a large one, and many that are open at once.

``writer`` is a test in a process of its own, which writes one large answer, and ``reader`` the
application that reads it slowly; each is there in Python and in JavaScript.
:mod:`~benchmarks.streams.crowd` opens many streams of many tests.
:mod:`benchmarks.streams.command` is the subcommand.
"""
