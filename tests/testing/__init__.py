"""The test side: its parts by themselves, and every rule on every adapter against a real proxy.

``session`` and ``har`` test parts without a proxy, by ``fakes``. The rules are in ``rows``: each
gets mocks of an adapter (``row_context``, ``adapters``; ``javascript`` is that of the npm package,
beside ``row_server.mjs``) and the service, application and upstream
of ``shared_app``; ``table`` prints them. ``runners`` and ``parallel`` start test runners by
``runs``, on the ``applications``; ``launch`` tests the start of proxies,
``reporting`` the reports of runs. ``samples`` run in
processes of their own.
"""
