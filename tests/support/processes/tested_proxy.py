"""The proxy under test: trafficmock's, or the npm package's for comparison.

``TRAFFICMOCK_E2E_PROXY=npm`` chooses the npm one.
"""

import os
from collections.abc import Mapping, Sequence

from tests.support.processes import proxy_process
from tests.support.processes.node_parts import module_file, node_binary
from tests.support.processes.proxy_process import ProxyProcess


def target() -> str:
    """Which proxy is under test, ``ours`` or ``npm``."""
    return "npm" if os.environ.get("TRAFFICMOCK_E2E_PROXY") == "npm" else "ours"


def start_proxy(options: Sequence[str], env: Mapping[str, str] | None = None) -> ProxyProcess:
    """Start the proxy under test on a free loopback port and wait until it serves.

    :param options: command-line options that both proxies know.
    :param env: added to its environment.
    :raises StartError: when it does not come up.
    """
    if target() == "ours":
        return proxy_process.start_proxy(*options, env=env)
    script = module_file("@playwright-backend-mocks/proxy/dist/cli.cjs")
    # The npm proxy takes no port 0.
    command = [str(node_binary()), str(script), "--port", "{port}", *options]
    return proxy_process.start(command, env=env)
