"""Local decisions: agents let requests pass without asking that no route can match.

Each agent has a **filter** (:mod:`~trafficmock.core.local.filter_entries`), a list of conditions:
every request that any route matches satisfies one of them. An agent lets the other requests pass
while it has a **lease** (:mod:`~trafficmock.core.local.leases`), which it gets with each answered
``request:start``, and reports them afterwards (:mod:`~trafficmock.core.local.passed_requests`).
Entries that no route needs stay in the filter for a while, so that the same routes in the next test
do not change it.

A registration is acknowledged when each agent has acknowledged the filter with the new route, or
its lease has certainly ended (:mod:`~trafficmock.core.local.local_decisions`). So no request that
begins after the acknowledgement of a route misses it.
"""
