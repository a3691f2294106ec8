"""WebSockets of an app with the npm agent, decided by tests with the npm fixture."""

from tests.interop.npm import specs
from tests.interop.npm.specs import Group

WEBSOCKET = Group("websocket")


class DecidedTests(specs.SpecTestCase):
    """Mocked, relayed or left alone."""

    group = WEBSOCKET
    spec = "decided.spec.mjs"


class ClosingTests(specs.SpecTestCase):
    """A close on any side reaches the others."""

    group = WEBSOCKET
    spec = "closing.spec.mjs"
