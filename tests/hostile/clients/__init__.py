"""Clients of the service: those that break its rules, and ``well_behaved`` ones beside them.

``raw`` sends any bytes: ``frames`` by hand, messages with one wrong field (``shapes``), sessions
damaged at random (``mutants``). ``stoppable`` is a worker in a process of its own.
"""
