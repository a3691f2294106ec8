"""Attaches a Python application to a trafficmock proxy, without a change of its code.

Libraries that send or receive HTTP are changed when the application imports them
(:mod:`.import_hook`). Their connections become tunnels through the forward proxy
(:mod:`.proxy_tunnel`). Each request in a tunnel has the context of the inbound request that caused
it (:mod:`.current_context`): the id by which the proxy finds the test. A failure that the proxy
reports is raised as the library's own error: :mod:`.failure_errors` makes the ``OSError`` of such a
failure of the network, by the table of :mod:`.network_errors`, and the library's module in
:mod:`.clients` makes its error from that.

The proxy *reads* a tunnel if it parses the requests in it, and opens TLS in it with certificates of
its own authority. Tunnels that it does not read (``--tunnel``) are left unchanged.

* Settings: :mod:`.preload_settings` and :mod:`.direct_targets` read the environment,
  :mod:`.child_environment` keeps the preload in that of child processes, :mod:`.attached_process`
  decides whether to attach, :mod:`.application_name` makes the default client id.
* Libraries: :mod:`.hooks` lists them; :mod:`.clients` changes HTTP clients, :mod:`.entries` web
  frameworks and servers, :mod:`.background` threads, pools and queues.
* Contexts and trust: :mod:`.sending_code` says where a request without a context is sent from,
  :mod:`.notices` tells the proxy what it does not see by itself, :mod:`.tunnel_trust` makes TLS in
  tunnels trust the proxy's authority, :mod:`.demanded_trust` says how the proxy has to verify
  servers.

The preload uses the standard library alone, of Python 3.9 and later.
"""
