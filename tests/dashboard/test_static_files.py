"""The files of the dashboard: what they may contain is what the policy lets run."""

import re
from importlib.resources import files
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.dashboard.static_files import CONTENT_TYPES, load_pages
from trafficmock.matching.host_pattern import UNDER_TEST

STATIC = Path(str(files("trafficmock.dashboard") / "static"))
_IMPORT = re.compile(r'^(?:import|export)[^"]*?from "([^"]+)";', re.MULTILINE)


class PagesTests(SynchronousTestCase):
    """Loading."""

    def test_all(self) -> None:
        """Every file is served under its path, the start page as the root."""
        expected = {
            "/" + str(path.relative_to(STATIC)) for path in STATIC.rglob("*") if path.is_file()
        }
        self.assertEqual(set(load_pages()), expected - {"/index.html"} | {"/"})

    def test_types(self) -> None:
        """Scripts have a type that browsers run under nosniff."""
        pages = load_pages()
        self.assertEqual(pages["/js/main.js"].content_type, CONTENT_TYPES["js"])
        self.assertEqual(pages["/"].content_type, b"text/html; charset=utf-8")

    def test_tags(self) -> None:
        """Each content has a tag of its own."""
        pages = load_pages().values()
        self.assertEqual(len({page.etag for page in pages}), len({page.content for page in pages}))


class ContentTests(SynchronousTestCase):
    """What the files hold."""

    def test_nothing_inline(self) -> None:
        """The start page has no inline script, style or handler."""
        text = (STATIC / "index.html").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", text), [])

    def test_nothing_from_elsewhere(self) -> None:
        """No file names another server, but for the namespace of SVG."""
        for path in STATIC.rglob("*"):
            if path.is_file():
                text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
                self.assertEqual(re.findall(r"https?://[^\s\"'`/]+", text), [], path)

    def test_hosts_under_test(self) -> None:
        """The page knows the parts of the application as the proxy does."""
        text = (STATIC / "js/data/hosts.js").read_text(encoding="utf-8")
        # eslint wants no escape that JavaScript does not need.
        rule = UNDER_TEST.replace(r"[^.\[\]]", r"[^.[\]]")
        self.assertIn(f"/^(?:{rule})$/", text)

    def test_no_markup_from_text(self) -> None:
        """No script turns text into markup or code."""
        never = re.compile(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write\b|\beval\(|new Function"
            r"|DOMParser|srcdoc|createContextualFragment"
        )
        for path in STATIC.rglob("*.js"):
            self.assertEqual(never.findall(path.read_text(encoding="utf-8")), [], path)

    def test_imports(self) -> None:
        """Every module that is imported is there, and every one that is there is imported."""
        reached = {STATIC / "js/main.js", STATIC / "js/theme-boot.js"}
        for path in STATIC.rglob("*.js"):
            for target in _IMPORT.findall(path.read_text(encoding="utf-8")):
                found = (path.parent / target).resolve()
                self.assertTrue(found.is_file(), f"{path}: {target}")
                reached.add(found)
        self.assertEqual(
            {path.resolve() for path in STATIC.rglob("*.js")}
            - {path.resolve() for path in reached},
            set(),
        )
