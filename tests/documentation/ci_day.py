"""A day on which tests fail: what a team has in its repository, besides the files of the example.

One test of pytest fails, and one of Playwright; strict mode refuses a request of a third. The
application sends one that no test owns, and one that is allowed and so leaves.
"""

BILLING = """
import threading

import requests
from flask import Flask

app = Flask(__name__)
TOKENS = {"ada": "t-ada-4711", "bob": "t-bob-0815"}


def post(url, **headers):
    try:
        answer = requests.post(url, json={"amount": 42}, headers=headers, timeout=10)
    except requests.RequestException as error:
        return f"no answer: {type(error).__name__}"
    return f"{answer.status_code} {answer.text}"


@app.get("/charge/<user>")
def charge(user):
    return post("https://payments.example/charges", authorization=f"Bearer {TOKENS[user]}")


@app.get("/audit")
def audit():
    return post("http://audit.example:8500/log")


@app.get("/mail")
def mail():
    return post("https://mail.example/send")


threading.Thread(target=post, args=["https://telemetry.example/started"], daemon=True).start()
"""

PYTEST = """
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.request import Request, urlopen

import pytest

CHARGES = "https://payments.example/charges"


class Auditor(BaseHTTPRequestHandler):
    def do_POST(self):
        self.send_response(200)
        self.send_header("content-length", "7")
        self.end_headers()
        self.wfile.write(b"noted 1")


@pytest.fixture(scope="session")
def billing(trafficmock_app):
    auditor = HTTPServer(("127.0.0.1", 8500), Auditor)
    threading.Thread(target=auditor.serve_forever, daemon=True).start()
    command = [sys.executable, "-m", "flask", "--app", "billing", "run", "--port", "{port}"]
    yield trafficmock_app(command, ready="http://127.0.0.1:{port}", client_id="billing").url
    auditor.shutdown()


def ask(billing, test, path):
    with urlopen(Request(billing + path, headers=test.headers), timeout=30) as answer:
        return answer.read().decode()


def test_charges(billing, trafficmock):
    trafficmock.mock(CHARGES, json={"receipt": "R1"}, times=2)
    trafficmock.mock(CHARGES, status=402, json={"code": "insufficient_funds"}, times=1)
    assert ask(billing, trafficmock, "/charge/ada").startswith("402 ")
    declined = time.time_ns() // 1_000_000
    assert "R1" in ask(billing, trafficmock, "/charge/bob")
    assert ask(billing, trafficmock, "/audit") == "200 noted 1"
    assert "R2" in ask(billing, trafficmock, "/charge/ada"), f"declined at {declined}"


def test_mail(billing, trafficmock):
    assert ask(billing, trafficmock, "/mail").startswith("no answer")
"""

PLAYWRIGHT = """
import { expect, test } from "trafficmock-playwright";

test("has a price in euro", async ({ request, trafficmock }) => {
  await trafficmock.mock("https://prices.example/items/*", { json: { price: "12 USD" } });
  const answer = await request.get("/price/cup");
  expect((await answer.json()).price).toBe("12 EUR");
});
"""

INI = """
trafficmock_allow = audit.example
trafficmock_proxy_options = --resolve audit.example:8500:127.0.0.1
"""

FILES = {
    "billing.py": BILLING,
    "test_billing.py": PYTEST,
    "basket.spec.mjs": PLAYWRIGHT,
}
"""The texts by the names of their files; :data:`INI` is added to ``pytest.ini``."""

SECRETS = ("t-ada-4711", "t-bob-0815")
