"""Where inbound requests and tasks begin.

:mod:`.framework_entries` changes web frameworks, :mod:`.server_entries` servers, and
:mod:`.task_entries` the libraries of task queues.
"""
