"""Where inbound requests and tasks begin.

:mod:`.context_reading` reads a context from headers.
:mod:`.framework_entries` changes web frameworks, :mod:`.server_entries` servers,
:mod:`.task_entries` the libraries of task queues, and :mod:`.aws_messages` the client of SQS and
SNS.
"""
