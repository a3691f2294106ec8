"""``browser_proxy``: what the proxy of a test's browser adds to the first load of a page."""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, ProxySettings, sync_playwright

from benchmarks import options as common
from benchmarks.report import table, write_json
from benchmarks.targets import Target, running
from tests.support.processes.child_process import Child
from tests.support.processes.node_parts import chromium, node_binary
from tests.support.processes.process_usage import cpu_seconds
from tests.support.raw_client import RawClient

ADDED_MS = 500.0
_SERVER = Path(__file__).parent / "dev_server.mjs"
_LOADED = "() => performance.getEntriesByType('navigation')[0].loadEventStart"
_PATIENT = ("--heartbeat-ms", "3600000", "--idle-timeout-ms", "7200000")


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    common.add_target(parser)
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--assets", type=int, default=500, help="default: %(default)s")


def run(options: Namespace) -> bool:
    """Load a page with and without the proxy, in turns.

    :returns: whether the median of the added time is at most :data:`ADDED_MS`.
    """
    target = common.target(options, _PATIENT)
    figures = _measure(options, target)
    rows = [
        [what, *(f"{value:,.0f}" for value in (statistics.median(taken), min(taken), max(taken)))]
        for what, taken in figures.items()
    ]
    print(table([f"first load of {options.assets} modules", "median ms", "least", "most"], rows))
    if options.json:
        write_json(options.json, {"ours": target.version}, figures)
    return statistics.median(figures["added"]) <= ADDED_MS


def _measure(options: Namespace, target: Target) -> dict[str, list[float]]:
    """Return the milliseconds of each load, and of the proxy's CPU for each load through it."""
    direct: list[float] = []
    through: list[float] = []
    cpu: list[float] = []
    with ExitStack() as stack:
        proxy = stack.enter_context(running(target))
        host, port = proxy.address
        worker = RawClient.connect(f"http://{host}:{port}")
        stack.callback(worker.close)
        worker.hello("playwright", workerId="0", features=["context"])
        test = {"testId": "t", "title": "T", "file": "t", "workerId": "0"}
        worker.send(type="test:register", context="1" * 32, door={}, **test)
        browser_proxy: ProxySettings = {"server": f"http://{host}:{worker.receive()['doorPort']}"}
        command = [str(node_binary()), str(_SERVER), str(options.assets)]
        server = Child.start("dev server", command, env={})
        stack.callback(server.stop)
        url = f"http://localhost:{server.announced()['port']}/"
        playwright = stack.enter_context(sync_playwright())
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=str(chromium()), args=arguments)
        for _ in range(options.rounds + 1):
            direct.append(_first_load(browser, url, None))
            before = cpu_seconds(proxy.pid)
            through.append(_first_load(browser, url, browser_proxy))
            cpu.append(1000 * (cpu_seconds(proxy.pid) - before))
        browser.close()
    # The first round, of processes that have just started, does not count.
    taken = {"directly": direct[1:], "through the proxy": through[1:]}
    added = [one - other for one, other in zip(through[1:], direct[1:], strict=True)]
    return {**taken, "added": added, "CPU of the proxy": cpu[1:]}


def _first_load(browser: Browser, url: str, proxy: ProxySettings | None) -> float:
    """Load a page in a new browser context, with an empty cache; return the milliseconds."""
    with browser.new_context(proxy=proxy) as context:
        page = context.new_page()
        page.goto(url)
        taken: float = page.evaluate(_LOADED)
        return taken
