"""
What each client raises for each fault of an answer: of a real server, a mock, and a real answer.

:mod:`~tests.interop.clients.faults.outcomes` asks, and
:mod:`~tests.interop.clients.faults.fault_table` prints. ``python -m tests.interop.clients.faults``
does both.
"""
