"""What the service does as a process, apart from the traffic.

``startup`` reads where to listen and to log, ``daemon`` tells the terminal how the start ended,
``ready_file`` and ``systemd_notify`` tell whoever started the process that it listens.
``log_observers`` writes the log; ``malloc`` and ``open_files`` set the limits of the process, and
``collector`` spares it the garbage collection of what start-up made.
"""
