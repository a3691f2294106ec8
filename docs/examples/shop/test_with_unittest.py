"""The shop's server with the standard library's unittest."""

from shop_process import shop

from trafficmock.testing.unittest import TestCase


class ShopTests(TestCase):
    def test_paid(self) -> None:
        self.trafficmock.route("**/charges", lambda route, _: route.fulfill(json={"receipt": "R1"}))
        self.assertEqual(shop().buy(), "Thank you! Receipt R1.")

    def test_declined(self) -> None:
        self.trafficmock.route("**/charges", lambda route, _: route.fulfill(status=402))
        self.assertEqual(shop().buy(), "Your card was declined.")

    def test_what_is_charged(self) -> None:
        self.trafficmock.route("**/charges", lambda route, _: route.fulfill(json={"receipt": "R1"}))
        with self.trafficmock.expect_request("**/charges") as charge:
            shop().buy()
        self.assertEqual(charge.value.post_data_json, {"amount": 4200, "currency": "EUR"})

    def test_unreachable(self) -> None:
        self.trafficmock.route("**/charges", lambda route, _: route.abort("connectionrefused"))
        self.assertEqual(shop().buy(), "Please try again later.")

    def test_second_try(self) -> None:
        self.trafficmock.route("**/charges", lambda route, _: route.fulfill(json={"receipt": "R2"}))
        self.trafficmock.route("**/charges", lambda route, _: route.abort(), times=1)
        self.assertEqual(shop().buy(), "Thank you! Receipt R2.")
