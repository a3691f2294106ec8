"""Attaches a Python application to a trafficmock proxy, without a change in it.

The application imports its libraries as ever; those that send or receive HTTP are changed as they
are imported (:mod:`.import_hook`). Their connections become tunnels through the forward proxy
(:mod:`.proxy_tunnel`), each request carries the context of the inbound one that led to it
(:mod:`.current_context`), and what a test aborts is raised as the library's own error: first
:mod:`.failure_errors` makes the ``OSError`` of a network, then the module of the library in
:mod:`.clients` makes the library's error from it.

* Settings: :mod:`.preload_settings` and :mod:`.direct_targets` read the environment,
  :mod:`.child_environment` hands it on, :mod:`.attached_process` tells whether it is in effect,
  :mod:`.application_name` names an application that has no client id.
* Libraries: :mod:`.hooks` lists them; :mod:`.clients` changes those that send,
  :mod:`.framework_entries` those that receive, :mod:`.thread_contexts` threads and pools.
* Contexts and trust: :mod:`.context_reading` finds a context on a request, :mod:`.tunnel_trust`
  trusts the proxy's authority within tunnels.

Only the standard library is used, since 3.9.
"""
