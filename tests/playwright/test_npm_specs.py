"""The npm specs with trafficmock's fixtures instead of the npm package's (deep)."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from attrs import evolve

from tests.interop.npm import specs as npm_specs
from tests.interop.npm import (
    test_capture,
    test_faults,
    test_har,
    test_http,
    test_ownership,
    test_websocket,
)
from tests.interop.npm.specs import Group, Run
from tests.playwright import specs

CONFIG = "tests/interop/npm/node/playwright.config.mjs"
MODULES = (test_capture, test_faults, test_har, test_http, test_ownership, test_websocket)


def run_group(group: Group) -> Run:
    """Run the specs of a directory, with our agent too."""
    ours = evolve(group, agent="ours", only=())
    return specs.run_specs(ours, CONFIG, f"specs/{group.directory}/")


def _test(group: Group, spec: str, title: str) -> Callable[[specs.RunTestCase], None]:
    def test(self: specs.RunTestCase) -> None:
        self.check(run_group(group), Path(spec).name, title)

    test.__doc__ = title
    return test


def _proxy_test(group: Group) -> Callable[[specs.RunTestCase], None]:
    def test(self: specs.RunTestCase) -> None:
        self.check_proxy(run_group(group))

    return test


def _cases(module: ModuleType) -> dict[str, type[specs.RunTestCase]]:
    """Make a test case of each of a module's."""
    made = {}
    for name, case in vars(module).items():
        if not (isinstance(case, type) and issubclass(case, npm_specs.SpecTestCase)):
            continue
        group, spec = case.group, case.spec
        tests = {
            npm_specs.method_name(title): _test(group, spec, title)
            for title in npm_specs.titles(npm_specs.SPECS / group.directory / spec)
        }
        tests["test_the_proxy_is_well"] = _proxy_test(group)
        about = {"__doc__": case.__doc__, "__module__": __name__, "skip": npm_specs.unless_deep()}
        made[name] = type(name, (specs.RunTestCase,), {**about, **tests})
    return made


for each in MODULES:
    globals().update(_cases(each))
