"""The dashboard: a process of its own that shows in a browser what the proxy records.

``site`` is the root resource: it lets people in by the rules of the proxy's guard and sends
each request to the ``pages`` (files under ``static``, held in memory) or to the ``relay``,
which fetches from the proxy's REST API what the pages ask for. ``tap`` builds it all from
``options``. The pages talk to this process only, so the proxy may be elsewhere and needs
no CORS.
"""
