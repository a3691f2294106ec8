"""The end-to-end tests' own set-up is complete and portable."""

import json

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.npm import (
    specs,
    test_capture,
    test_faults,
    test_har,
    test_http,
    test_ownership,
    test_websocket,
)
from tests.interop.npm.specs import SPECS
from tests.support.processes.node_parts import NODE_DIRECTORY

MODULES = (test_capture, test_faults, test_har, test_http, test_ownership, test_websocket)


class SetupTests(SynchronousTestCase):
    """What is easily forgotten when a spec or a package is added."""

    def test_every_spec_has_a_test_case(self) -> None:
        """A spec file that no trial test case names would never run."""
        named = {
            f"{case.group.directory}/{case.spec}"
            for module in MODULES
            for case in vars(module).values()
            if isinstance(case, type) and issubclass(case, specs.SpecTestCase)
        }
        present = {str(path.relative_to(SPECS)) for path in SPECS.glob("*/*.spec.mjs")}
        self.assertEqual(present, named)

    def test_the_lock_file_names_no_registry(self) -> None:
        """The packages come from whichever registry the machine is set up for."""
        lock = json.loads((NODE_DIRECTORY / "package-lock.json").read_text())
        self.assertEqual(
            [name for name, part in lock["packages"].items() if "resolved" in part], []
        )

    def test_every_title_is_a_test_of_its_own(self) -> None:
        """Titles become method names: one not read, or like another, would hide a test."""
        for path in SPECS.glob("*/*.spec.mjs"):
            titles = specs.titles(path)
            self.assertEqual(len(titles), path.read_text().count("\ntest("), path.name)
            self.assertEqual(len({specs.method_name(each) for each in titles}), len(titles))
