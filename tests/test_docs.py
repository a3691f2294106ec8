"""What the documentation says is so."""

import re
from collections.abc import Iterator
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.running import REPOSITORY
from trafficmock.options import Options

README = REPOSITORY / "README.md"
DOCS = REPOSITORY / "docs"
_MARKED = re.compile(r"<!-- options begin:[^>]*-->\n(.*?)<!-- options end -->", re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")
_FENCE = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```", re.DOTALL | re.MULTILINE)


def options_table() -> str:
    """Write the table of options as the README has it."""
    rows = ["| Option | Default | Meaning |", "|---|---|---|"]
    for name, _, default, meaning, _ in Options.optParameters:
        shown = "" if default is None else f"`{default}`"
        rows.append(f"| `--{name}` | {shown} | {meaning} |")
    for flag, _, meaning in Options.optFlags:
        rows.append(f"| `--{flag}` | | {meaning} |")
    for method in (Options.opt_allowed_host, Options.opt_cors_origin):
        name = method.__name__.removeprefix("opt_").replace("_", "-")
        rows.append(f"| `--{name}` | | {method.__doc__} |")
    return "\n".join(rows) + "\n"


def pages() -> Iterator[Path]:
    yield README
    yield from (path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


class ReadmeTests(SynchronousTestCase):
    """The first page."""

    def test_options(self) -> None:
        """The table of options is the one that the options make."""
        marked = _MARKED.search(README.read_text(encoding="utf-8"))
        assert marked is not None
        self.assertEqual(marked[1], options_table())

    def test_same_command(self) -> None:
        """CI runs the test command of the README, word for word."""
        blocks = [fence["text"].strip() for fence in _FENCE.finditer(README.read_text())]
        (command,) = [block for block in blocks if block.endswith("/tox")]
        self.assertIn(command, (REPOSITORY / ".ci" / "run").read_text())

    def test_examples(self) -> None:
        """Code that the README shows of the tour stands in its files."""
        spec = (DOCS / "examples" / "tour" / "shop.spec.mjs").read_text()
        shown = [f["text"] for f in _FENCE.finditer(README.read_text()) if f["kind"] == "js"]
        self.assertEqual([text in spec for text in shown], [True])


class LinkTests(SynchronousTestCase):
    """Links within the project."""

    def test_targets(self) -> None:
        """Every file that a page links to is there."""
        broken = [
            f"{page.relative_to(REPOSITORY)}: {target}"
            for page in pages()
            for target in _LINK.findall(page.read_text(encoding="utf-8"))
            if not (page.parent / target).exists()
        ]
        self.assertEqual(broken, [])
