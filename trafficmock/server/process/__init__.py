"""The service as a process: its start, its log, its limits and its notifications.

``startup`` makes the listening endpoint and the log from the options. ``daemon`` reports the result
of the start to the terminal; ``ready_file`` and ``systemd_notify`` report that the service
listens. ``log_observers`` writes the log. ``malloc`` and ``open_files`` set limits of the process;
``collector`` excludes the objects of start-up from garbage collection.
"""
