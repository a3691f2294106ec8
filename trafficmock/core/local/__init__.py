"""Requests that agents let pass without asking, because no route can match them.

Each agent has a **filter** (:mod:`~trafficmock.core.local.filter_entries`): what URLs must have
that some route may want. It is a superset, so that the same routes in the next test change nothing.
What is not in the filter passes at once, as long as the agent has a **lease**
(:mod:`~trafficmock.core.local.leases`), which it gets with every question that is answered, and is
reported afterwards (:mod:`~trafficmock.core.local.passed_requests`).

A registration is acknowledged when every agent has acknowledged the filter with the new route, or
its lease is surely over (:mod:`~trafficmock.core.local.local_decisions`). So no request that begins
after the acknowledgement passes a route by.
"""
