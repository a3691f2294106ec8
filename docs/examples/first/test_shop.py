from urllib.request import urlopen


def test_declined(trafficmock):
    trafficmock.route("**/charges", lambda route: route.fulfill(status=402))
    with trafficmock.expect_request("**/charges") as charge:
        answer = urlopen("http://127.0.0.1:3000/buy", b"")
    assert answer.read() == b"Your card was declined."
    assert charge.value.post_data_json == {"amount": 4200, "currency": "EUR"}
