"""The shop with Selenium: each test has a browser, and its own answers of one shop."""

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions as expected
from selenium.webdriver.support.wait import WebDriverWait

from trafficmock.testing.sync import TrafficMock


def buy(driver: webdriver.Chrome) -> str:
    driver.find_element(By.TAG_NAME, "button").click()
    said = (By.ID, "said")
    WebDriverWait(driver, 30).until(expected.text_to_be_present_in_element(said, "."))
    return driver.find_element(*said).text


@pytest.mark.parametrize("receipt", ["R1", "R2", "R3"])
def test_paid(
    driver: webdriver.Chrome, trafficmock: TrafficMock, trafficmock_base_url: str, receipt: str
) -> None:
    trafficmock.route("**/charges", lambda route: route.fulfill(json={"receipt": receipt}))
    driver.get(trafficmock_base_url)
    assert buy(driver) == f"Thank you! Receipt {receipt}."


def test_by_cookie(
    driver: webdriver.Chrome, trafficmock: TrafficMock, trafficmock_base_url: str
) -> None:
    trafficmock.route("**/charges", lambda route: route.fulfill(status=402))
    driver.get(trafficmock_base_url)
    driver.add_cookie(trafficmock.cookie)
    assert buy(driver) == "Your card was declined."
