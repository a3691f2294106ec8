"""Modules that are changed as they are imported."""

import importlib
import io
import sys
from pathlib import Path
from types import ModuleType

from trafficmock_preload import import_hook
from twisted.trial.unittest import SynchronousTestCase


class ImportTests(SynchronousTestCase):
    """A module is changed once, whenever it is imported."""

    def setUp(self) -> None:
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        (folder / "hooked_sample.py").write_text("value = 1\n")
        self.patch(sys, "path", [str(folder), *sys.path])
        self.patch(sys, "meta_path", list(sys.meta_path))
        self.addCleanup(sys.modules.pop, "hooked_sample", None)
        self.seen: list[str] = []

    def change(self, module: ModuleType) -> None:
        self.seen.append(module.__name__)
        module.__dict__["value"] += 1

    def test_later(self) -> None:
        """It is changed when it is imported, and is then as any other module."""
        import_hook.install({"hooked_sample": self.change})
        self.assertEqual(self.seen, [])
        module = importlib.import_module("hooked_sample")
        self.assertEqual((module.value, self.seen), (2, ["hooked_sample"]))
        spec = module.__spec__
        assert spec is not None
        loader = spec.loader
        self.assertIs(module.__loader__, loader)
        self.assertEqual(type(loader).__name__, "SourceFileLoader")
        importlib.reload(module)
        self.assertEqual(module.value, 2)

    def test_before(self) -> None:
        """One that is there already is changed at once."""
        importlib.import_module("hooked_sample")
        import_hook.install({"hooked_sample": self.change})
        self.assertEqual(self.seen, ["hooked_sample"])

    def test_vendored(self) -> None:
        """Copies of urllib3 that other libraries carry are meant too."""
        finder = import_hook.ChangingFinder({"urllib3.connection": self.change})
        self.assertIsNotNone(finder.change_of("pip._vendor.urllib3.connection"))
        self.assertIsNone(finder.change_of("pip._vendor.urllib3.poolmanager"))
        self.assertIsNone(finder.change_of("other.connection"))

    def test_refused(self) -> None:
        """A module that must not be used is not imported, also where it was imported before."""
        errors = io.StringIO()
        self.patch(sys, "stderr", errors)

        def change(_: ModuleType) -> None:
            raise import_hook.NotAttachableError("not under strict mode")

        import_hook.install({"hooked_sample": change})
        self.assertRaises(ImportError, importlib.import_module, "hooked_sample")
        sys.modules["hooked_sample"] = ModuleType("hooked_sample")
        import_hook.install({"hooked_sample": change})
        self.assertIn("trafficmock: not under strict mode", errors.getvalue())
        self.assertRaises(ImportError, importlib.import_module, "hooked_sample")

    def test_other_version(self) -> None:
        """A module that is too different stays usable, and stderr says so."""
        errors = io.StringIO()
        self.patch(sys, "stderr", errors)

        def change(_: ModuleType) -> None:
            raise AttributeError("no such class")

        import_hook.install({"hooked_sample": change})
        self.assertEqual(importlib.import_module("hooked_sample").value, 1)
        self.assertIn("hooked_sample cannot be attached", errors.getvalue())
