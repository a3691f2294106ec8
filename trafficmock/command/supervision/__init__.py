"""Runs a command for ``trafficmock run``, and ends all processes that the command leaves behind.

- ``foreground`` is the first process, that of ``trafficmock run``: it receives signals, and ends
  with the command's exit status.
- ``supervisor`` is its child and the command's parent. It forwards signals, and ends the remaining
  processes after the command, or when the first process is killed.
- ``process_group`` finds the processes of the command.

All of them stay in the process group of the caller, so that the terminal's job control works as for
a command that was started directly.
"""
