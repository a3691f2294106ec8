"""Builds the dashboard's service."""

from __future__ import annotations

from typing import Any

from treq.client import HTTPClient
from twisted.web.client import Agent, HTTPConnectionPool

from trafficmock import __version__
from trafficmock.dashboard.dashboard_options import DashboardOptions
from trafficmock.dashboard.dashboard_root import DashboardRoot
from trafficmock.dashboard.proxy_client import ProxyApiClient
from trafficmock.dashboard.proxy_relay import ProxyRelay
from trafficmock.dashboard.static_files import load_pages
from trafficmock.http.access import AccessPolicy
from trafficmock.http.http_limits import ConnectionCount, HttpLimits
from trafficmock.http.this_service import ThisService
from trafficmock.server.process.startup import chosen_observer, listening_endpoint, start_report
from trafficmock.server.service import ProxyService
from trafficmock.server.site import ServiceSite

__all__ = ["Options", "makeService"]

Options = DashboardOptions
"""The name that twistd looks for."""

CONNECT_SECONDS = 3.0
"""How long a connection to the proxy may take; then the proxy counts as unreachable."""


def makeService(options: DashboardOptions) -> ProxyService:  # noqa: N802 - the name twistd looks for
    """Make the service that ``twistd -n trafficmock-dashboard`` runs.

    :param options: parsed options.
    """
    from twisted.internet import reactor  # noqa: PLC0415, TID251 - the composition root picks it

    proxy_url = options["proxy-url"]
    relay = make_relay(proxy_url, reactor)
    limits = HttpLimits()
    return ProxyService(
        endpoint=listening_endpoint(options, reactor),
        site=ServiceSite(
            DashboardRoot(
                pages=load_pages(),
                relay=relay,
                guard=_guard(options),
                version=__version__,
                proxy_url=proxy_url,
            ),
            server_header=f"trafficmock-dashboard/{__version__}".encode("ascii"),
            connections=ConnectionCount(limits.max_connections, reactor.seconds),
            limits=limits,
            reactor=reactor,
        ),
        driver=relay,
        reactor=reactor,
        # The dashboard is read-only, and other machines read no traffic without --open-history.
        open_to_all=True,
        ready_file=options["ready-file"],
        banner=lambda url: _banner(url, proxy_url),
        log_observer=chosen_observer(options),
        start=start_report(options),
        name="trafficmock dashboard",
    )


def make_relay(proxy_url: str, reactor: Any) -> ProxyRelay:
    """Make the relay to the proxy, with a pool of connections."""
    pool = HTTPConnectionPool(reactor)
    agent = Agent(reactor, connectTimeout=CONNECT_SECONDS, pool=pool)
    client = HTTPClient(agent)
    return ProxyRelay(ProxyApiClient(client=client, proxy_url=proxy_url, clock=reactor))


def _guard(options: DashboardOptions) -> AccessPolicy:
    return AccessPolicy(
        service=ThisService(
            [] if options["endpoint"] else [options["host"]], options["allowed-host"]
        ),
        open_history=bool(options["open-history"]),
    )


def _banner(url: str, proxy_url: str) -> list[str]:
    return [
        f"trafficmock dashboard {__version__} listens on {url}",
        f"  shows the proxy at {proxy_url}",
    ]
