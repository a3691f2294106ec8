"""Gives work in the background the context of the request that has given it.

:mod:`.thread_contexts` has threads and pools, :mod:`.queue_contexts` what threads and tasks take
from queues, and timers.
"""
