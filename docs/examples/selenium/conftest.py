"""A browser of Selenium that belongs to one test, with the proxy of that test."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

DEBIAN = Path("/usr/bin/chromedriver")


@pytest.fixture(scope="session")
def trafficmock_base_url() -> str:
    return os.environ["SHOP_URL"]


@pytest.fixture
def driver(trafficmock_browser_proxy: dict[str, str]) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    options.add_argument(f"--proxy-server={urlsplit(trafficmock_browser_proxy['server']).netloc}")
    # Chromium asks loopback itself, unless it is told not to.
    options.add_argument("--proxy-bypass-list=<-loopback>")
    service = Service(str(DEBIAN)) if DEBIAN.exists() else None
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()
