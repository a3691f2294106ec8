"""One run's processes: upstream, proxy and app, started and ended together."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from attrs import frozen

from tests.support.processes.child_process import Child
from tests.support.processes.node_parts import NODE_DIRECTORY, node_binary
from tests.support.processes.proxy_process import ProxyProcess
from tests.support.processes.tested_proxy import start_proxy, target


@frozen
class NodeApp:
    """Who is running, and the environment that tells a spec so."""

    proxy: ProxyProcess
    upstream_url: str
    app_url: str
    agent: str

    def environment(self) -> dict[str, str]:
        return {
            "E2E_TARGET": target(),
            "E2E_AGENT": self.agent,
            "E2E_PROXY_URL": self.proxy.url,
            "E2E_UPSTREAM_URL": self.upstream_url,
            "E2E_APP_URL": self.app_url,
            "PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL": self.proxy.url,
            "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1",
        }


@contextmanager
def running_node_app(
    proxy_options: Sequence[str] = (), *, token: str | None = None, agent: str = "npm"
) -> Iterator[NodeApp]:
    """Start upstream, proxy and the shared app; end them in the other order.

    :param proxy_options: options of the proxy besides its address.
    :param token: given to proxy and app.
    :param agent: the one in the apps, ``npm`` or ``ours``.
    """
    with ExitStack() as ending:
        upstream = _node_child("upstream", {})
        ending.callback(upstream.stop)
        upstream_url = upstream.announced()["url"]
        options = [*proxy_options, *(("--token", token) if token else ())]
        proxy = start_proxy(options)
        ending.callback(proxy.stop)
        app_env = {"E2E_AGENT": agent, "APP_PROXY_URL": proxy.url, "APP_CLIENT_ID": "app"}
        app = _node_child("app", app_env | ({"APP_TOKEN": token} if token else {}))
        ending.callback(app.stop)
        app_url = app.announced()["url"]
        yield NodeApp(proxy=proxy, upstream_url=upstream_url, app_url=app_url, agent=agent)


def _node_child(name: str, env: dict[str, str]) -> Child:
    return Child.start(name, [str(node_binary()), str(NODE_DIRECTORY / f"{name}.mjs")], env=env)
