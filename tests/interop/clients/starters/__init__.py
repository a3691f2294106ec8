"""Runtimes and tools that start an application, under ``trafficmock run``.

``test_starters`` runs ``shop/calls.mjs`` by each.
"""
