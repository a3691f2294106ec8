"""HTTP requests of an app with the npm agent, decided by tests with the npm fixture."""

from tests.interop.npm import specs
from tests.interop.npm.specs import Group

HTTP = Group("http")


class FulfillTests(specs.SpecTestCase):
    """A mock answers in the network's place."""

    group = HTTP
    spec = "fulfill.spec.mjs"


class MatchingTests(specs.SpecTestCase):
    """Which request is whose, and which route of its test."""

    group = HTTP
    spec = "matching.spec.mjs"


class ContinueTests(specs.SpecTestCase):
    """The request goes on, as it was or changed."""

    group = HTTP
    spec = "continue.spec.mjs"


class AbortTests(specs.SpecTestCase):
    """The request fails as the test wants, or because its handler did."""

    group = HTTP
    spec = "abort.spec.mjs"


class FetchTests(specs.SpecTestCase):
    """A handler asks the network first."""

    group = HTTP
    spec = "fetch.spec.mjs"


class NetworkTests(specs.SpecTestCase):
    """What nobody mocks, and what the history keeps of it."""

    group = HTTP
    spec = "network.spec.mjs"


class WaiterTests(specs.SpecTestCase):
    """Tests watch the app's traffic."""

    group = HTTP
    spec = "waiters.spec.mjs"


class StreamTests(specs.SpecTestCase):
    """Bodies that arrive bit by bit, from an app with our own agent."""

    group = HTTP
    spec = "streams.spec.mjs"


class BadMockTests(specs.SpecTestCase):
    """A mock that no HTTP message can carry does not reach the app."""

    group = HTTP
    spec = "bad-mocks.spec.mjs"


class LargeBodyTests(specs.SpecTestCase):
    """Bodies near the size that a frame may have."""

    group = Group("deep")
    spec = "large.spec.mjs"
    skip = specs.unless_deep()
