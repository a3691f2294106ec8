"""The shop in a script, without a test runner."""

from shop_process import Shop

from trafficmock.testing import sync
from trafficmock.testing.launch import process_proxy

# A proxy that ends with this process; or name one that runs with TRAFFICMOCK_PROXY_URL.
proxy = process_proxy()
shop = Shop(proxy)

with sync.mocks(proxy.url, title="what reports call this") as trafficmock:
    trafficmock.route("**/charges", lambda route: route.fulfill(json={"receipt": "R1"}))
    print(shop.buy())
    print([request.url for request in trafficmock.requests()])

shop.stop()
