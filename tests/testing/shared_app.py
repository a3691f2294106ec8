"""Upstream, proxy and application, started once for all tests here."""

import atexit
import functools
from contextlib import ExitStack

from tests.support.processes.node_app import NodeApp, running_node_app


@functools.cache
def shared_app() -> NodeApp:
    """Start the processes, or give those that run."""
    exit_stack = ExitStack()
    node_app = exit_stack.enter_context(running_node_app())
    atexit.register(exit_stack.close)
    return node_app
