"""What the list shows of the day's traffic."""

from playwright.sync_api import Page

PASSED = {"error": 2, "passthrough": 11, "abort": 2, "continue": 1, "fulfill": 1, "pending": 0}
ALL = sum(PASSED.values())


def hosts(page: Page) -> list[str]:
    return page.locator(".grid-body .col-host").all_text_contents()
