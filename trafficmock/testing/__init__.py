"""The test side: routes, waiters, HAR and WebSockets for tests written in Python.

The terms, in the order of the calls:

* a **worker client** (:mod:`trafficmock.testing.session.worker_client`) is the protocol side of
  one connection to the proxy; it passes each message to the session of its test;
* a **session** (:mod:`trafficmock.testing.session.session`) is one test: its routes, waiters and
  errors;
* a **route entry** is one registered handler, a **routed request**
  (:mod:`trafficmock.testing.session.handlers.routed_request`) one request that passes through
  the handlers;
* an **adapter** (:class:`trafficmock.testing.session.ports.Adapter`) runs handlers and predicates
  for one kind of test: blocking (:mod:`trafficmock.testing.sync`), asyncio
  (:mod:`trafficmock.testing.aio`) or Twisted (:mod:`trafficmock.testing.tx`);
* the **context** of a test is an id that its requests carry; its **browser proxy** is a port of the
  proxy that adds the context to the requests of a browser.

Tests use the classes of :mod:`trafficmock.testing.objects`. :mod:`trafficmock.testing.har` records
and replays HAR files, :mod:`trafficmock.testing.launch` starts a proxy,
:mod:`trafficmock.testing.reporting` reports the run. ``pytest_plugin`` has the
fixtures of pytest; ``trial`` and ``unittest`` have test cases (their attributes are in
``case_settings``). ``strict_marks``, ``unowned_requests`` and ``shared_directory`` belong to the
pytest plugin, which loads them in every run. ``promise`` is a result that comes later, ``errors``
has the errors that tests catch, ``keywords`` names the argument that a misspelt one may mean.
``self_attachment`` attaches the process of the tests, for applications that run in it. ``llm``
writes the answers of language models to streams.
``redacted_texts`` lets the proxy remove the secrets of what a test process writes.

Worker client, session and routed request do no I/O and read no clock; the adapters do.
:mod:`trafficmock.testing.adapters.tagged_browser` makes Playwright's browser send the context of
its test.
"""
