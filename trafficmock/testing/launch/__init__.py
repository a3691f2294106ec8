"""Starts a proxy for tests that do not name one: once per run, until the tests end.

``proxy_process`` starts it, or finds the one that the environment names; ``shared_proxy`` shares
one between pytest workers; ``leased_proxy`` is the program that both start: it ends when no process
holds its ``lease``.
"""

from trafficmock.testing.launch.proxy_process import Proxy, process_proxy, start_proxy

__all__ = ["Proxy", "process_proxy", "start_proxy"]
