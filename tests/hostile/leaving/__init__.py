"""The ways to leave: what an application can send in a strict test, and what becomes of it.

``leaving`` goes each way in a strict test, and in a sealed command, and writes the tables of
``docs/how-to/strict-ways.md``. The ways are in ``python_ways`` and in ``node_ways.mjs``, programs
that send one request each.
"""
