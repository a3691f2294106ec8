"""The waits of tests for requests and responses.

``waits`` registers waits, and ends each of them when something met it or its time is over.
``sent_requests`` has the requests that a worker was sent: what a worker is not sent does not
meet its waits.
"""
