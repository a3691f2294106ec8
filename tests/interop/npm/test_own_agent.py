"""The specs once more, with trafficmock's agent in the application instead of the npm agent.

The usual run has the specs of what an application sees of a decision; a deep one has all, also
where the agent asks the proxy about each request.
"""

from types import ModuleType

from attrs import evolve

from tests.interop.npm import (
    specs,
    test_capture,
    test_faults,
    test_har,
    test_http,
    test_ownership,
    test_websocket,
)
from tests.interop.npm.specs import Group

MODULES = (test_capture, test_faults, test_har, test_http, test_ownership, test_websocket)

HTTP = Group(
    "http",
    agent="ours",
    only=(
        *("fulfill.spec.mjs", "continue.spec.mjs", "abort.spec.mjs", "fetch.spec.mjs"),
        "../websocket/closing.spec.mjs",
    ),
)


class FulfillTests(specs.SpecTestCase):
    """A mock answers in the network's place."""

    group = HTTP
    spec = "fulfill.spec.mjs"


class ContinueTests(specs.SpecTestCase):
    """The request goes on, as it was or changed."""

    group = HTTP
    spec = "continue.spec.mjs"


class AbortTests(specs.SpecTestCase):
    """The request fails with Node's own codes."""

    group = HTTP
    spec = "abort.spec.mjs"


class FetchTests(specs.SpecTestCase):
    """A handler asks the network first."""

    group = HTTP
    spec = "fetch.spec.mjs"


class ClosingTests(specs.SpecTestCase):
    """Either side closes a WebSocket."""

    group = HTTP
    spec = "../websocket/closing.spec.mjs"


def _deep(
    module: ModuleType, prefix: str, *proxy_options: str
) -> dict[str, type[specs.SpecTestCase]]:
    """Make a test case for each of a module's, with our agent."""
    made = {}
    for name, case in vars(module).items():
        if isinstance(case, type) and issubclass(case, specs.SpecTestCase):
            options = (*case.group.proxy_options, *proxy_options)
            made[f"{prefix}{name}"] = type(
                f"{prefix}{name}",
                (specs.SpecTestCase,),
                {
                    "__doc__": case.__doc__,
                    "__module__": __name__,
                    "group": evolve(case.group, agent="ours", proxy_options=options),
                    "spec": case.spec,
                },
            )
    return made


if specs.unless_deep() is None:
    for each in MODULES:
        globals().update(_deep(each, "Deep"))
        globals().update(_deep(each, "DeepAsking", "--local", "off"))
