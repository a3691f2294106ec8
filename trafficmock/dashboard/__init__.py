"""The dashboard: a process of its own that shows in a browser what the proxy records.

``dashboard_root`` is the root resource: it checks each request by the proxy's access policy and
answers from ``static_files`` (the directory ``static``, held in memory) or lets ``proxy_relay``
answer, which fetches from the proxy's REST API with ``proxy_client`` and streams large bodies with
``body_relay``. ``service_maker`` builds it all from ``dashboard_options``. The pages talk to this
process only, so the proxy may run elsewhere and needs no CORS.

The JavaScript of the page is in ``static/js``; ``main.js`` starts it. ``rest-records.d.ts`` has the
types of what REST sends.

* ``data``: what the proxy recorded, asked for and kept: ``store`` holds it all, ``filter`` chooses;
* ``views``: one module for each page (``overview``, ``http``, ``sockets``, ``connections``) and
  the panels that they consist of;
* ``grid``: the table with its columns; ``detail``: the pane about one request or WebSocket;
* ``bodies``: recorded bodies; ``copy``: a request as a command, a call or a route;
* ``shell``: header, keys, theme, and the line about a proxy that is away;
* ``lib``: elements, URLs, formats, settings of the browser.
"""
