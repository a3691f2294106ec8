"""The page is looked at between two tokens of the model."""

from playwright.sync_api import Page, expect

from trafficmock.testing.llm import EVENT_STREAM, ChatCompletion
from trafficmock.testing.sync import TrafficMock


def test_tokens(page: Page, trafficmock: TrafficMock) -> None:
    stream = trafficmock.stream("**/v1/chat/completions", content_type=EVENT_STREAM)
    page.goto("/")
    page.get_by_role("button", name="Ask").click()
    said, model = page.get_by_role("status"), ChatCompletion(stream)
    model.text("Warm ")
    expect(said).to_have_text("Warm")
    model.text("the pot.")
    expect(said).to_have_text("Warm the pot.")
    model.finish()
    stream.end()
    expect(said).to_have_text("Warm the pot. (done)")


def test_breaks_off(page: Page, trafficmock: TrafficMock) -> None:
    stream = trafficmock.stream("**/v1/chat/completions", content_type=EVENT_STREAM)
    page.goto("/")
    page.get_by_role("button", name="Ask").click()
    said, model = page.get_by_role("status"), ChatCompletion(stream)
    for token in ("Warm ", "the ", "pot "):
        model.text(token)
    expect(said).to_have_text("Warm the pot")
    stream.abort()
    expect(said).to_have_text("Warm the pot (broken off)")
