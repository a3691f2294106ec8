"""Lets Chromium load pages through a browser proxy, and prints what the page found.

``python -m tests.proxy.browser_proxy.browse PORT APPLICATION THIRD`` with the proxy's port and two
URLs.
"""

from __future__ import annotations

import json
import sys

from playwright.sync_api import sync_playwright

from tests.support.processes.node_parts import chromium

_SCRIPT = """async ([app, third]) => {
    const text = async (url, options) => (await fetch(url, options)).text()
    return {
        fetched: await text(app + '/fetched'),
        posted: await text(app + '/posted', {method: 'POST', headers: {'x-own': '1'}}),
        beacon: navigator.sendBeacon(app + '/beacon', 'x'),
        third: await text(third + '/third', {headers: {'x-own': '1'}}),
        own: await text(app + '/own', {headers: {baggage: 'a=b'}}),
    }
}"""


def main(port: str, app: str, third: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(chromium()), args=["--no-sandbox", "--disable-gpu"]
        )
        context = browser.new_context(proxy={"server": f"http://127.0.0.1:{port}"})
        page = context.new_page()
        page.goto(f"{app}/page")
        found = page.evaluate(_SCRIPT, [app, third])
        found["request"] = page.request.get(f"{app}/request").text()
        page.goto(f"{app}/page?again")
        browser.close()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:4])
