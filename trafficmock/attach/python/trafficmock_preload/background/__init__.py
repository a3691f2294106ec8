"""Gives work in the background the context of the request that has given it.

:mod:`.thread_contexts` has threads, pools and callbacks of jobs, :mod:`.greenlets` those of gevent
and eventlet, :mod:`.process_contexts` jobs of pools of processes. What threads and tasks take from
queues is in :mod:`.queue_contexts`; the queues themselves are changed by :mod:`.thread_queues` and
:mod:`.task_queues`. Loops of asyncio, with their tasks, timers and connections, are in
:mod:`.event_loops`, libraries that keep jobs in :mod:`.kept_jobs`, handlers that keep records of
``logging`` in :mod:`.log_records`.

What works for everyone has none: :mod:`.service_loops` tells it by what the code does, whose loops
:mod:`.code_loops` finds, :mod:`.signals` by who wakes it, and :mod:`.received_messages` by what it
listens to. So has what a job has started that does not wait for it: :mod:`.job_chains` tells it,
and :mod:`.joins` and :mod:`.job_waits` whether it waits, by what its code awaits
(:mod:`.awaited_names`).
"""
