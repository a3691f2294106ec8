"""The calls of responses and respx that the page compares with ours, and both beside ours.

Run by pytest in an attached process.
"""

import httpx
import pytest
import requests
import responses
import respx

from trafficmock.testing.sync import TrafficMock

URL = "https://prices.example/v1"


@responses.activate
def test_responses() -> None:
    responses.get(URL, json={"price": 12})
    responses.add_callback(responses.POST, URL, lambda request: (201, {}, request.body))
    responses.get("https://down.example/", body=requests.ConnectionError())
    assert requests.get(URL, timeout=60).json() == {"price": 12}
    assert responses.calls[0].request.url == URL
    assert requests.post(URL, "five", timeout=60).text == "five"
    for unreachable in ("https://down.example/", "https://unknown.example/"):
        with pytest.raises(requests.ConnectionError):
            requests.get(unreachable, timeout=60)


def test_responses_all_fired() -> None:
    with responses.RequestsMock(assert_all_requests_are_fired=True) as mocks:
        mocks.get(URL)
        requests.get(URL, timeout=60)
    with (
        pytest.raises(AssertionError, match="Not all requests have been executed"),
        responses.RequestsMock(assert_all_requests_are_fired=True) as mocks,
    ):
        mocks.get(URL)


@respx.mock
def test_respx() -> None:
    prices = respx.get(URL).respond(json={"price": 12})
    respx.post(URL).side_effect = lambda request: httpx.Response(201, content=request.content)
    respx.get("https://down.example/").mock(side_effect=httpx.ConnectError)
    assert httpx.get(URL).json() == {"price": 12}
    assert prices.calls.last.request.url == URL
    assert httpx.post(URL, content="five").text == "five"
    with pytest.raises(httpx.ConnectError):
        httpx.get("https://down.example/")


def test_respx_unknown() -> None:
    with respx.mock, pytest.raises(respx.models.AllMockedAssertionError):
        httpx.get(URL)
    with pytest.raises(AssertionError, match="some routes were not called"), respx.mock() as mocks:
        mocks.get(URL)


def test_ours_beside_responses(trafficmock: TrafficMock) -> None:
    """What responses answers does not come to ours; what it lets pass does."""
    trafficmock.mock("https://*.example/**", body="ours")
    with responses.RequestsMock() as mocks:
        mocks.get(URL, body="theirs")
        mocks.add_passthru("https://other.example/")
        assert requests.get(URL, timeout=60).text == "theirs"
        assert requests.get("https://other.example/", timeout=60).text == "ours"
        assert httpx.get(URL).text == "ours"
    assert requests.get(URL, timeout=60).text == "ours"


def test_ours_beside_respx(trafficmock: TrafficMock) -> None:
    """So it is with respx."""
    trafficmock.mock("https://*.example/**", body="ours")
    with respx.mock:
        respx.get(URL).respond(text="theirs")
        respx.get("https://other.example/").pass_through()
        assert httpx.get(URL).text == "theirs"
        assert httpx.get("https://other.example/").text == "ours"
        assert requests.get(URL, timeout=60).text == "ours"
    assert httpx.get(URL).text == "ours"
