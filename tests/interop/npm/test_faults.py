"""Somebody leaves at the worst moment, and everybody else gets an answer."""

from tests.interop.npm import specs
from tests.interop.npm.specs import Group

FAULTS = Group("faults")


class WorkerKilledTests(specs.SpecTestCase):
    """A test worker crashes at each step of a request."""

    group = FAULTS
    spec = "worker-killed.spec.mjs"


class AgentKilledTests(specs.SpecTestCase):
    """An app crashes at each step of a request."""

    group = FAULTS
    spec = "agent-killed.spec.mjs"


class TestEndedTests(specs.SpecTestCase):
    """A test, or an app's agent, ends properly with a request still waiting."""

    group = FAULTS
    spec = "test-ended.spec.mjs"
