"""The composition root: builds the service from its parts and the parsed options.

twistd finds ``Options`` and ``makeService`` by the plugin in ``twisted/plugins``.
"""

from __future__ import annotations

import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve
from twisted.internet.threads import deferToThreadPool

from trafficmock import __version__
from trafficmock.attach.process_mark import may_run
from trafficmock.certificates.files import default_directory
from trafficmock.core.coordinator import Coordinator
from trafficmock.core.settings import Settings
from trafficmock.core.state.peers import Agent
from trafficmock.history.store import History
from trafficmock.history.traffic_counts import OTHER_HOSTS
from trafficmock.http.access import AccessPolicy
from trafficmock.http.bounded_cache import cached_by_text
from trafficmock.http.http_limits import HttpLimits
from trafficmock.http.this_service import ThisService
from trafficmock.matching.allow_list import read_allow_list
from trafficmock.proxy.browser_proxy.browser_proxies import BrowserProxies
from trafficmock.proxy.downstream.client_tls import CertificateStore
from trafficmock.proxy.downstream.forward_proxy import ForwardProxy, make_forward_proxy
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.proxy.upstream.dialer import Dialer
from trafficmock.proxy.upstream.server_verification import ServerVerification
from trafficmock.redaction.redactor import Redactor
from trafficmock.redaction.url_batches import UrlBatches
from trafficmock.server.driver import Driver
from trafficmock.server.event_log import EventLog
from trafficmock.server.options import OTLP_ENDPOINTS, ProxyOptions
from trafficmock.server.process.collector import adapt_collector
from trafficmock.server.process.malloc import tune_allocator
from trafficmock.server.process.open_files import limit_connections
from trafficmock.server.process.startup import chosen_observer, listening_endpoint, start_report
from trafficmock.server.rest.connections_report import connections_report
from trafficmock.server.service import ProxyService
from trafficmock.server.site import ServiceSite, make_site
from trafficmock.server.websocket.upgrade import WebSocketLimits, websocket_resource

if TYPE_CHECKING:
    from trafficmock.telemetry.exporter import Exporter

__all__ = ["Options", "makeService"]

Options = ProxyOptions
"""The name that twistd looks for."""


def makeService(options: ProxyOptions) -> ProxyService:  # noqa: N802 - the name twistd looks for
    """Make the service that ``twistd -n trafficmock`` runs.

    :param options: the parsed options.
    :returns: the service; it listens when it is started.
    """
    from twisted.internet import reactor  # noqa: PLC0415, TID251 - the composition root picks it

    tune_allocator()
    adapt_collector(reactor)
    options["max-connections"] = limit_connections(options["max-connections"], reactor)
    redactor = Redactor.of(options["redact"])
    history = _history(options, redactor)
    exporter = _exporter(options, history, redactor, reactor)
    driver = make_driver(options, history, redactor, reactor, exporter)
    certificates = CertificateStore.open(_ca_directory(options))
    guard = _guard(options)
    dialer = _dialer(options, guard, reactor)
    make_proxy = partial(
        make_forward_proxy,
        this_service=guard.service,
        dialer=dialer,
        certificates=certificates,
        version=__version__,
        reactor=reactor,
    )
    forward = make_proxy(settings=_proxy_settings(options), gateway=driver)
    site = _site(
        options,
        history=history,
        driver=driver,
        guard=guard,
        forward=forward,
        ca_pem=certificates.ca_pem,
        redactor=redactor,
        reactor=reactor,
    )
    browser_proxies = driver.browser_proxies = _browser_proxies(options, make_proxy, site, reactor)
    if exporter is not None:
        exporter.counts.gauges.append(partial(_gauges, driver, site))

    def stop_forward() -> bool:
        browser_proxies.stop()
        return forward.stop()

    def listens(address: Any) -> None:
        dialer.service_port = getattr(address, "port", None)
        if _has_known_address(options):
            driver.await_older_leases()

    return ProxyService(
        endpoint=listening_endpoint(options, reactor),
        site=site,
        driver=driver,
        reactor=reactor,
        open_to_all=options["token"] is not None or bool(options["insecure"]),
        ready_file=options["ready-file"],
        banner=lambda url: _banner(url, options, () if exporter is None else exporter.addresses),
        log_observer=chosen_observer(options),
        listens=listens,
        stop_forward=stop_forward,
        start=start_report(options),
        stop_export=None if exporter is None else exporter.stop,
    )


def _exporter(
    options: ProxyOptions, history: History, redactor: Redactor, reactor: Any
) -> Exporter | None:
    """Make the exporter to a collector, if the option or the environment names one.

    Without one nothing of it is imported.
    """
    option = options["otlp-endpoint"]
    if not option and not any(os.environ.get(name) for name in OTLP_ENDPOINTS):
        return None
    from trafficmock.telemetry.assembly import make_exporter  # noqa: PLC0415 - see above
    from trafficmock.telemetry.random_ids import RandomIds  # noqa: PLC0415

    return make_exporter(
        option,
        os.environ,
        version=__version__,
        new_id=RandomIds(os.urandom),
        now=time.time_ns,
        redact_urls=UrlBatches(redactor, cached_by_text(maxsize=2000)(redactor.url)),
        redact_text=redactor.text,
        decisions=partial(_decisions, history),
        reactor=reactor,
    )


def _decisions(history: History) -> Iterator[tuple[str, str | None, int]]:
    """Yield what was decided, for metrics: action, host with its port, and number."""
    for counts in history.tally.all.values():
        for host, of_host in counts.hosts.items():
            for action, number in of_host.items():
                yield action, None if host == OTHER_HOSTS else host, number


def _gauges(driver: Driver, site: ServiceSite) -> list[tuple[str, str, int]]:
    """Return what metrics observe in the service: the instrument, its attribute, the value."""
    clients = Counter(
        client.kind if isinstance(client, Agent) else "worker"
        for client in driver.coordinator.clients()
    )
    history = driver.history
    return [
        *(("trafficmock.connections", kind, count) for kind, count in clients.items()),
        ("trafficmock.connections", "http", site.connections.open),
        ("trafficmock.send_queue.size", "", driver.queued_bytes()),
        ("trafficmock.history.evictions", "request", history.requests.dropped),
        ("trafficmock.history.evictions", "websocket", history.sockets.dropped),
    ]


def make_driver(
    options: ProxyOptions,
    history: History,
    redactor: Redactor,
    reactor: Any,
    exporter: Exporter | None = None,
) -> Driver:
    """Make the coordinator and the driver that performs its effects."""
    settings = Settings(
        version=__version__,
        own_hosts=tuple(options["own-host"]),
        strict=read_allow_list(options["allow"]) if options["strict"] else None,
        token=options["token"],
        local=options["local"] == "on",
        records_passed=options["history-capture"] == "all" or exporter is not None,
        **options.settings_of(Settings),
    )
    return Driver(
        coordinator=Coordinator(settings, may_run=may_run),
        history=history,
        clock=reactor,
        monotonic=time.monotonic,
        epoch_ns=time.time_ns,
        prefix=secrets.token_hex(4),
        apart=partial(deferToThreadPool, reactor, reactor.getThreadPool()),
        event_log=EventLog(debug=options["log-level"] == "debug", redactor=redactor),
        writers={} if exporter is None else exporter.writers(history.writers),
        dated_writers={} if exporter is None else exporter.writers(history.writers, dated=True),
    )


def _history(options: ProxyOptions, redactor: Redactor) -> History:
    return History(
        redactor=redactor if options["redact-history"] else None,
        **options.settings_of(History),
    )


def _site(
    options: ProxyOptions,
    *,
    history: History,
    driver: Driver,
    guard: AccessPolicy,
    forward: ForwardProxy,
    ca_pem: Callable[[], bytes],
    redactor: Redactor,
    reactor: Any,
) -> ServiceSite:
    """Make the site of the service's port: REST, ``/ws`` and the forward proxy."""
    return make_site(
        history=history,
        connections=lambda tests: connections_report(driver.coordinator, tests=tests),
        ca_pem=ca_pem,
        websocket=websocket_resource(
            driver,
            limits=WebSocketLimits(**options.settings_of(WebSocketLimits)),
            reactor=reactor,
        ),
        guard=guard,
        forward=forward,
        version=__version__,
        capture=options["history-capture"],
        strict=bool(options["strict"]),
        limits=HttpLimits(**options.settings_of(HttpLimits)),
        reactor=reactor,
        redactor=redactor,
        apart=partial(deferToThreadPool, reactor, reactor.getThreadPool()),
    )


def _browser_proxies(
    options: ProxyOptions,
    make_proxy: Callable[..., ForwardProxy],
    site: ServiceSite,
    reactor: Any,
) -> BrowserProxies:
    """Make what opens the forward proxies of the browsers of tests.

    Each writes the context of its test on requests (:mod:`trafficmock.proxy.browser_proxy`).
    """
    settings = _proxy_settings(options)
    return BrowserProxies(
        listen=partial(reactor.listenTCP, 0, interface=_browser_proxy_interface(options)),
        forward=partial(
            make_proxy,
            settings=evolve(settings, opens_tls=False),
            gateway=None,
        ),
        count=site.connections,
        own_hosts=settings.own_hosts,
    )


def _proxy_settings(options: ProxyOptions) -> ProxySettings:
    return ProxySettings(
        token=options["token"],
        tunnels=tuple(options["tunnel"]),
        own_hosts=tuple(options["own-host"]),
        records_passthrough=options["history-capture"] == "all",
        **options.settings_of(ProxySettings),
    )


def _dialer(options: ProxyOptions, guard: AccessPolicy, reactor: Any) -> Dialer:
    return Dialer(
        reactor=reactor,
        trust=ServerVerification(
            tuple(options["upstream-ca"]), tuple(options["upstream-insecure"])
        ),
        resolved=dict(options["resolve"]),
        proxy=options["upstream-proxy"],
        bound_everywhere=not guard.service.listening,
        **options.settings_of(Dialer),
    )


def _browser_proxy_interface(options: ProxyOptions) -> str:
    """Return the interface of browser proxies: that of ``--host``; loopback with ``--endpoint``."""
    return "127.0.0.1" if options["endpoint"] else str(options["host"])


def _has_known_address(options: ProxyOptions) -> bool:
    """Return whether the address stays the same after a restart; with ``--port 0`` it does not."""
    return bool(options["endpoint"] or options["port"])


def _ca_directory(options: ProxyOptions) -> Path:
    given = options["ca-dir"]
    return Path(given) if given else default_directory(os.environ)


def _guard(options: ProxyOptions) -> AccessPolicy:
    return AccessPolicy(
        service=ThisService(
            [] if options["endpoint"] else [options["host"]], options["allowed-host"]
        ),
        cors_origins=options["cors-origin"],
        open_history=bool(options["open-history"]),
    )


def _banner(url: str, options: ProxyOptions, exports: Sequence[str]) -> list[str]:
    websocket = url.replace("http://", "ws://", 1)
    return [
        f"trafficmock {__version__} listens on {url}",
        f"  agents and tests connect to {url} (coordinator {websocket}/ws)",
        f"  recorded traffic: {url}/api/history (capture: {options['history-capture']})",
        f"  token: {'required' if options['token'] else 'none'}",
        *(f"  exports to {address} (OTLP)" for address in exports),
    ]
