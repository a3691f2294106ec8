"""Attaches a Python application to a trafficmock proxy, without a change in it.

The application imports its libraries as ever; those that send or receive HTTP are changed as they
are imported (:mod:`.import_hook`). Their connections become tunnels through the forward proxy
(:mod:`.proxy_tunnel`), each request carries the context of the inbound one that led to it
(:mod:`.current_context`), and what a test aborts is raised as the library's own error
(:mod:`.failure_errors`). Only the standard library is used, since 3.9.
"""
