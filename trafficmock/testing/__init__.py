"""The test side: routes, waiters, HAR and WebSockets for tests written in Python.

Five nouns and who calls whom:

* a **worker client** (:mod:`trafficmock.testing.session.worker_client`) speaks for one
  connection to the proxy and hands each message to the session it is for;
* a **session** (:mod:`trafficmock.testing.session.session`) is one test: its routes, waiters and
  errors;
* a **route entry** is one registered handler, a **routed request**
  (:mod:`trafficmock.testing.session.handlers.routed_request`) one request on its way through them;
* an **adapter** (:class:`trafficmock.testing.session.ports.Adapter`) runs handlers and predicates
  as the test is written: blocking (:mod:`trafficmock.testing.sync`), asyncio
  (:mod:`trafficmock.testing.aio`) or Twisted (:mod:`trafficmock.testing.tx`).

Tests see :mod:`trafficmock.testing.objects`. :mod:`trafficmock.testing.har` records and plays HAR
files, :mod:`trafficmock.testing.launch` starts a proxy. ``pytest_plugin``, ``trial`` and
``unittest`` (both with ``case_settings``) make fixtures of all this; ``strict_marks``,
``unowned_requests`` and ``shared_directory`` are what every pytest run looks at. ``promise`` is a
result that comes later, ``errors`` are those that tests catch.

Worker client, session and routed request open nothing and look at no clock; the adapters do.
:mod:`trafficmock.testing.adapters.tagged_browser` gives Playwright's browser the context of its
test.
"""
