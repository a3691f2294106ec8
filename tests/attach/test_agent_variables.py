"""Where agents, tests, commands and the dashboard find the proxy."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.attach.agent_variables import (
    agent_variables,
    proxy_token,
    proxy_url,
    proxy_url_variable,
)
from trafficmock.attach.proxy_variables import ProxyAddress


class ReadingTests(SynchronousTestCase):
    """What the environment says of the proxy."""

    def test_ours_first(self) -> None:
        """Our variables count before the npm packages'; an empty one counts as absent."""
        npm = {
            "PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL": "http://npm:1",
            "PLAYWRIGHT_BACKEND_MOCKS_TOKEN": "npm",
        }
        ours = {"TRAFFICMOCK_PROXY_URL": "http://ours:1", "TRAFFICMOCK_TOKEN": "ours"}
        empty = dict.fromkeys(ours, "")
        for environment, url, token in (
            ({}, None, None),
            (npm, "http://npm:1", "npm"),
            (npm | ours, "http://ours:1", "ours"),
            (npm | empty, "http://npm:1", "npm"),
        ):
            self.assertEqual((proxy_url(environment), proxy_token(environment)), (url, token))

    def test_name(self) -> None:
        """The variable can be named, for a message about its value."""
        name = "PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL"
        self.assertEqual(proxy_url_variable({name: "x"}), name)
        self.assertIsNone(proxy_url_variable({}))


class WritingTests(SynchronousTestCase):
    """What an agent reads."""

    def test_round_trip(self) -> None:
        """What is written is what is read, without credentials in the URL."""
        address = ProxyAddress("http", "::1", 4310, "shop", "secret")
        for npm_agent in (True, False):
            found = agent_variables(address, npm_agent=npm_agent)
            self.assertEqual(proxy_url(found), "http://[::1]:4310")
            self.assertEqual(proxy_token(found), "secret")
            self.assertEqual(found["TRAFFICMOCK_CLIENT_ID"], "shop")
