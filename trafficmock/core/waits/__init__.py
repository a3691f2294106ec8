"""The waits of tests for requests and responses (feature ``waits``).

``waits`` registers waits, and ends each of them when something met it or its time is over.
``told_requests`` has the requests that a worker was told of: what a worker is not told of does not
meet its waits.
"""
