"""Applications under test, each started as a process.

``pages_flask``, ``pages_django``, ``pages_fastapi`` and ``pages_celery`` have the preload;
``prices.mjs`` and ``prices_https.mjs`` run in Node, where ``reads.mjs`` reads one answer;
``propagating_app`` copies the context by itself. ``llm_client`` asks a model by an SDK. ``flood``
writes a lot to its output; ``queue_thread`` sends from a background thread, and ``jobs`` and
``jobs.mjs`` from what the first request starts.
"""
