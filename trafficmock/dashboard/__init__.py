"""The dashboard: a process of its own that shows in a browser what the proxy records.

``dashboard_root`` is the root resource: it checks each request by the proxy's access policy and
answers from ``static_files`` (the directory ``static``, held in memory) or lets ``proxy_relay``
answer, which fetches from the proxy's REST API with ``proxy_client`` and streams large bodies with
``body_relay``. ``service_maker`` builds it all from ``dashboard_options``. The pages talk to this
process only, so the proxy may run elsewhere and needs no CORS.
"""
