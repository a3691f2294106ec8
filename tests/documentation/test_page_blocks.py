"""Pages are complete as plain files: what they show of other files is written into them."""

import re
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY
from tools import page_api, page_blocks

PYTHON = """\
import pytest


@pytest.fixture
def shop():
    return 1


def other():
    pass
"""
DIRECTIVES = re.compile(r"^```\{(\w[\w-]*)\}", re.MULTILINE)
SPHINX_ONLY = {"toctree"}
"""Directives that may stay: they list the pages for Sphinx, and hold nothing to read."""


class PageTests(SynchronousTestCase):
    """The pages of the project."""

    def test_current(self) -> None:
        """Each page is as ``python -m tools.page_blocks`` writes it."""
        old = [
            str(page.relative_to(REPOSITORY))
            for page in page_blocks.pages()
            if page_blocks.rendered(page) != page.read_text(encoding="utf-8")
        ]
        self.assertEqual(old, [], "python -m tools.page_blocks writes them")

    def test_no_directives(self) -> None:
        """No page has a block that only Sphinx can show."""
        found = [
            (page.name, name)
            for page in page_blocks.pages()
            for name in DIRECTIVES.findall(page.read_text(encoding="utf-8"))
            if name not in SPHINX_ONLY
        ]
        self.assertEqual(found, [])


class RenderedTests(SynchronousTestCase):
    """What the tool makes of a page."""

    def setUp(self) -> None:
        self.root = Path(self.mktemp())
        self.root.mkdir()
        (self.root / "conftest.py").write_text(PYTHON)
        self.page = self.root / "page.md"

    def written(self, text: str) -> str:
        """Render a page twice; the second time changes nothing."""
        self.page.write_text(text)
        once = page_blocks.rendered(self.page)
        self.page.write_text(once)
        self.assertEqual(page_blocks.rendered(self.page), once)
        return once

    def test_new_marker(self) -> None:
        """One line becomes a block between two markers."""
        written = self.written("a\n\n<!-- file: conftest.py -->\n\nz\n")
        self.assertEqual(
            written,
            "a\n\n<!-- file begin: conftest.py -->\n\n"
            f"```python\n{PYTHON}```\n\n<!-- file end -->\n\nz\n",
        )

    def test_directive(self) -> None:
        """A directive of Sphinx becomes one, with its caption and its part of the file."""
        written = self.written(
            "```{literalinclude} conftest.py\n:caption: conftest.py\n:language: python\n"
            ":pyobject: shop\n```\n"
        )
        self.assertEqual(
            written,
            "<!-- file begin: conftest.py | caption: conftest.py | object: shop -->\n\n"
            "**conftest.py**\n\n```python\n@pytest.fixture\ndef shop():\n    return 1\n```\n\n"
            "<!-- file end -->\n",
        )

    def test_changed_file(self) -> None:
        """A block follows its file; the text around it stays."""
        self.written("a\n<!-- file: conftest.py -->\nb\n<!-- file: conftest.py -->\nz\n")
        before = self.page.read_text()
        (self.root / "conftest.py").write_text("new = 1\n")
        after = page_blocks.rendered(self.page)
        self.assertEqual(after, before.replace(PYTHON, "new = 1\n"))

    def test_before_another(self) -> None:
        """A new marker before a block takes nothing of that block or of the text between."""
        block = self.written("<!-- file: conftest.py -->\n")
        written = self.written(f"<!-- file: conftest.py -->\nbetween\n{block}")
        self.assertEqual(written, f"{block}between\n{block}")

    def test_part(self) -> None:
        """A part of another page is what stands between two texts."""
        (self.root / "other.md").write_text("# A\n\n## One\n\ntext\n\n## Two\n")
        written = self.written("<!-- part: other.md | after: ## One | before: ## Two -->\n")
        self.assertIn("-->\n\ntext\n\n<!-- part end", written)

    def test_js_object(self) -> None:
        """Of a JavaScript file it is a function with its comment, or a test by its title."""
        text = (
            'import a from "a";\n\n'
            "/** Help. */\nfunction help(x) {\n  return {\n    x,\n  };\n}\n\n"
            'test("one", async () => {\n  go();\n\n  stop();\n});\n\n'
            'test("one more", () => {\n});\n'
        )
        wanted = "/** Help. */\nfunction help(x) {\n  return {\n    x,\n  };\n}"
        self.assertEqual(page_blocks.js_object(text, "help"), wanted)
        wanted = 'test("one", async () => {\n  go();\n\n  stop();\n});'
        self.assertEqual(page_blocks.js_object(text, "one"), wanted)
        self.assertRaises(LookupError, page_blocks.js_object, text, "two")

    def test_no_such_object(self) -> None:
        """A name that the file does not have is an error."""
        self.page.write_text("<!-- file: conftest.py | object: gone -->\n")
        self.assertRaises(LookupError, page_blocks.rendered, self.page)


class ApiTests(SynchronousTestCase):
    """Docstrings as Markdown."""

    def test_fields(self) -> None:
        """Parameters, result and errors are a list; roles are code."""
        doc = (
            "Do ``it``, as :meth:`~a.b.Other.run`.\n\n:param url: where,\n    in short.\n"
            ":returns: nothing.\n:raises OSError: if not."
        )
        self.assertEqual(
            page_api.markdown(doc),
            "Do `it`, as `run`.\n\n- `url`: where,\n  in short.\n- returns: nothing.\n"
            "- raises `OSError`: if not.",
        )

    def test_signature(self) -> None:
        """A signature has names and defaults, and neither ``self`` nor annotations."""

        def called(self: object, url: str, *, times: int | None = None) -> None: ...

        self.assertEqual(page_api.signature(called), "(url, *, times=None)")

    def test_members(self) -> None:
        """A class is written with its public members, apart from those that are left out."""
        text = page_api.api_text("trafficmock.testing.sync.Route", without=["abort"])
        self.assertIn("### `Route`", text)
        self.assertIn("#### `fulfill`", text)
        self.assertNotIn("#### `abort`", text)
