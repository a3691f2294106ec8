"""Opens a page in a browser context of Playwright, with a proxy of its own.

``python -m tests.interop.browsers.playwright_page JSON``; it ends when its standard input does.
"""

from __future__ import annotations

import json
import sys

from playwright.sync_api import sync_playwright

from tests.support.processes.node_parts import chromium


def main(options: dict[str, str]) -> None:
    arguments = ["--no-sandbox", "--disable-gpu", f"--host-resolver-rules={options['resolve']}"]
    # Service workers are for secure contexts.
    arguments.append(f"--unsafely-treat-insecure-origin-as-secure={options['secure']}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(chromium()), args=arguments)
        proxy = options["proxy"]
        given = {"proxy": {"server": f"http://127.0.0.1:{proxy}"}} if proxy else {}
        context = browser.new_context(**given)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(options["page"])
        if proxy:
            # Without one Playwright asks the machine for the address of the host.
            page.request.get(options["request"])
        page.wait_for_url("**/kept?turn=2", timeout=0)
        sys.stdin.read()
        browser.close()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
