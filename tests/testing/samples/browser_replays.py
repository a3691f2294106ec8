"""Run as a child: replays a HAR by Playwright's own means, in Chromium, and prints the body.

python -m tests.testing.samples.browser_replays HAR URL
"""

import sys

from playwright.sync_api import sync_playwright

from tests.support.node_parts import chromium


def main(har: str, url: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.route_from_har(har, not_found="abort")
        response = page.goto(url)
        sys.stdout.write(response.text() if response else "nothing")
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
