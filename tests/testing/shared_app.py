"""Upstream, proxy and application, started once for all tests here."""

import atexit
import functools
from contextlib import ExitStack

from tests.support.processes.node_app import NodeApp, running_node_app


@functools.cache
def shared_app(*proxy_options: str, agent: str = "npm") -> NodeApp:
    """Start the processes, or give those that run.

    :param proxy_options: options of the proxy besides its address.
    :param agent: the one in the application, ``npm`` or ``ours``.
    """
    exit_stack = ExitStack()
    node_app = exit_stack.enter_context(running_node_app(proxy_options, agent=agent))
    atexit.register(exit_stack.close)
    return node_app
