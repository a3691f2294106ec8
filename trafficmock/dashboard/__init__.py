"""The dashboard: a process of its own, whose pages show the traffic that the proxy records.

``dashboard_root`` is the root resource: it checks each request by the proxy's access policy. It
answers with a file of ``static_files`` (the directory ``static``, held in memory), or by
``proxy_relay`` with a response of the proxy's REST API, which ``proxy_client`` requests and
``body_relay`` streams. ``service_maker`` builds all this from ``dashboard_options``. Pages send
requests to this process only, so the proxy may run on another machine and needs no CORS.

The JavaScript of the pages is in ``static/js``; ``main.js`` starts it. ``rest-records.d.ts`` has
the types of the REST API's records.

* ``data``: the records of the proxy: ``poller`` requests them, ``store`` holds them, ``filter``
  selects rows;
* ``views``: one module for each page (``overview``, ``http``, ``sockets``, ``connections``) and
  their panels;
* ``grid``: the table of a list; ``detail``: the pane with one request or WebSocket;
* ``bodies``: recorded bodies; ``copy``: a request as a curl command, a ``fetch`` call or a route;
* ``shell``: header, keys, theme, and the banner about an unreachable proxy;
* ``lib``: DOM elements, URLs, formats, settings of the browser.
"""
