"""Kinds of work in the background of a Python server, and whose its requests are.

:mod:`.flask_kinds` has those of threads and processes, :mod:`.fastapi_kinds` those of tasks.
"""
