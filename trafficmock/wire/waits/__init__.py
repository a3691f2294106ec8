"""The messages about waits for requests and responses.

``wait_messages`` has them: a worker registers a wait, and the coordinator says what met it.
"""
