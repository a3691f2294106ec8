"""Run as a child: replays HARs by Playwright's own means, in Chromium, and prints the bodies.

python -m tests.testing.samples.browser_replays URL HAR...
"""

import sys

from playwright.sync_api import sync_playwright

from tests.support.processes.node_parts import chromium


def main(url: str, *hars: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        for har in hars:
            page = browser.new_page()
            page.route_from_har(har, not_found="abort")
            response = page.goto(url)
            sys.stdout.write(f"{response.text() if response else 'nothing'}\n")
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
