"""Runs a command for ``trafficmock run``, and ends every process that the command leaves behind.

- ``foreground`` is the process that was started: it receives signals,
  and ends as the command ends.
- ``supervisor`` is its child and the command's parent. It passes
  signals on and ends what the command leaves behind, also when the first process is killed.
- ``process_group`` finds the processes of the command.

All of them stay in the process group that the shell or the caller has put them into, so that a
terminal works as if the command had been started directly.
"""
