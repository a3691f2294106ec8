"""What the documentation says is so."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import get_args

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY
from trafficmock.dashboard.dashboard_options import DashboardOptions
from trafficmock.server.options import ProxyOptions
from trafficmock.wire import agent_filter, inbound, local_reports, outbound
from trafficmock.wire.payloads import (
    answer,
    serialized_matcher,
    serialized_request,
    serialized_response,
)
from trafficmock.wire.payloads.abort_codes import NETWORK_ERRORS, PLAYWRIGHT_CODES
from trafficmock.wire.waits import wait_messages

README = REPOSITORY / "README.md"
DOCS = REPOSITORY / "docs"
ABORTING = (
    "docs/how-to/attach/python.md",
    "docs/how-to/attach/anything.md",
)
"""Pages that name each abort code, but have no table from the source."""
_MARKED = re.compile(r"<!-- options begin:[^>]*-->\n(.*?)<!-- options end -->", re.DOTALL)
_LIMIT = re.compile(r"^\|[^|]*\| `--([\w-]+)` \| ([\d,]+) ?(KiB|MiB|)\b", re.MULTILINE)
_UNITS = {"": 1, "KiB": 2**10, "MiB": 2**20}
_LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")
_FENCE = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```", re.DOTALL | re.MULTILINE)


def options_table() -> str:
    """Write the table of options as its page has it."""
    rows = ["| Option | Default | Meaning |", "|---|---|---|"]
    for name, _, default, meaning, _ in ProxyOptions.optParameters:
        shown = "" if default is None else f"`{default}`{unit(name)}"
        rows.append(f"| `--{name}` | {shown} | {meaning} |")
    for flag, _, meaning in ProxyOptions.optFlags:
        rows.append(f"| `--{flag}` | | {meaning} |")
    for method in (
        ProxyOptions.opt_allowed_host,
        ProxyOptions.opt_cors_origin,
        ProxyOptions.opt_own_host,
        ProxyOptions.opt_allow,
        ProxyOptions.opt_tunnel,
        ProxyOptions.opt_upstream_ca,
        ProxyOptions.opt_upstream_insecure,
        ProxyOptions.opt_resolve,
        ProxyOptions.opt_redact,
    ):
        name = method.__name__.removeprefix("opt_").replace("_", "-")
        rows.append(f"| `--{name}` | | {method.__doc__} |")
    return "\n".join(rows) + "\n"


def options_of(page: Path) -> str:
    """Return the table of options that a page has."""
    marked = _MARKED.search(page.read_text(encoding="utf-8"))
    assert marked is not None
    return marked[1]


def dashboard_options_table() -> str:
    """Write the table of the dashboard's options as its page has it."""
    rows = ["| Option | Default | Meaning |", "|---|---|---|"]
    for name, _, default, meaning, _ in DashboardOptions.optParameters:
        shown = "" if default is None else f"`{default}`"
        rows.append(f"| `--{name}` | {shown} | {meaning} |")
    rows += [f"| `--{flag}` | | {meaning} |" for flag, _, meaning in DashboardOptions.optFlags]
    rows.append(f"| `--allowed-host` | | {DashboardOptions.opt_allowed_host.__doc__} |")
    return "\n".join(rows) + "\n"


def unit(name: str) -> str:
    """Name the unit that an option counts in."""
    return next((f" {unit}" for unit in ("ms", "bytes") if name.endswith(f"-{unit}")), "")


def pages() -> Iterator[Path]:
    yield README
    yield from (path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


class ReadmeTests(SynchronousTestCase):
    """The first page."""

    def test_options(self) -> None:
        """The table of the options that people set has ten rows of the whole one, in its order."""
        some, every = options_of(README).splitlines(), options_table().splitlines()
        self.assertEqual(some, [row for row in every if row in some])
        self.assertEqual(len(some), 2 + 10)
        self.assertEqual(options_of(DOCS / "options.md"), options_table())

    def test_same_command(self) -> None:
        """CI runs the test command of the README, word for word."""
        blocks = [fence["text"].strip() for fence in _FENCE.finditer(README.read_text())]
        (command,) = [block for block in blocks if block.endswith("/tox -p 2")]
        self.assertIn(command, (REPOSITORY / ".ci" / "run").read_text())


class DashboardTests(SynchronousTestCase):
    """The dashboard's page."""

    TEXT = (DOCS / "dashboard.md").read_text(encoding="utf-8")

    def test_options(self) -> None:
        """The table of options is the one that the options make."""
        marked = re.search(
            r"<!-- dashboard options begin:[^>]*-->\n(.*?)<!-- d", self.TEXT, re.DOTALL
        )
        assert marked is not None
        self.assertEqual(marked[1], dashboard_options_table())

    def test_pictures(self) -> None:
        """Every picture that is shown is there, in light and dark."""
        shown = set(re.findall(r"pictures/(\w+)-light\.webp", self.TEXT))
        self.assertGreater(len(shown), 5)
        there = {path.name for path in (DOCS / "pictures").glob("*.webp")}
        wanted = {f"{name}-{how}.webp" for name in shown for how in ("light", "dark")}
        self.assertEqual(wanted - there, set())


MODULES = (agent_filter, inbound, outbound, local_reports, wait_messages)
"""Where messages are defined."""


class ProtocolTests(SynchronousTestCase):
    """The reference names everything there is."""

    def test_messages(self) -> None:
        """Every message has its row, or a place in the handshake."""
        text = page("messages") + page("handshake")
        types = {tag for module in MODULES for tag in tags(module)}
        self.assertGreater(len(types), 40)
        self.assertEqual({name for name in types if f"`{name}`" not in text}, set())

    def test_fields(self) -> None:
        """Every field of a message stands somewhere in the reference."""
        text = "".join(
            page(name)
            for name in (
                "messages",
                "handshake",
                "objects",
                "context",
                "strict",
                "local",
                "additions",
                "reply",
            )
        )
        fields = {
            key
            for module in (
                *MODULES,
                serialized_request,
                serialized_response,
                serialized_matcher,
            )
            for kind in structs(module)
            for key in kind.__struct_encode_fields__
        }
        self.assertEqual({key for key in fields if f"`{key}" not in text}, set())

    def test_error_codes(self) -> None:
        """Every code that REST and the protocol send is in the one table of errors."""
        api = (DOCS / "openapi.yaml").read_text(encoding="utf-8")
        listed = re.search(r"description: For programs\.\n\s+enum:\n((?:\s+- \w+\n)+)", api)
        assert listed is not None
        codes = {*re.findall(r"- (\w+)", listed[1]), *get_args(outbound.ErrorCode)}
        codes |= {*get_args(outbound.HelloErrorCode), *get_args(answer.AbortCode)}
        text = (DOCS / "errors.md").read_text(encoding="utf-8")
        self.assertEqual({code for code in codes if f"`{code}`" not in text}, set())

    def test_limits(self) -> None:
        """The page of limits has the defaults of the options."""
        options = ProxyOptions()
        text = (DOCS / "limits.md").read_text(encoding="utf-8")
        listed = _LIMIT.findall(text)
        self.assertGreater(len(listed), 10)
        for name, number, unit in listed:
            default = int(number.replace(",", "")) * _UNITS[unit]
            self.assertEqual(default, options[name], name)

    def test_abort_codes(self) -> None:
        """Each abort code of the wire is known to all that have no table from the source."""
        codes = get_args(answer.AbortCode)
        self.assertEqual(set(codes), set(NETWORK_ERRORS))
        self.assertEqual(set(codes), set(PLAYWRIGHT_CODES.values()))
        self.assertEqual(
            [(file, code) for file in ABORTING for code in codes if not _names(file, code)], []
        )
        types = (REPOSITORY / "playwright" / "types.d.ts").read_text(encoding="utf-8")
        _, _, union = types.partition("export type AbortErrorCode =")
        union, _, _ = union.partition(";")
        self.assertEqual(re.findall(r'\| "(\w+)"', union), list(PLAYWRIGHT_CODES))


def _names(file: str, word: str) -> bool:
    text = (REPOSITORY / file).read_text(encoding="utf-8")
    return re.search(rf"\b{word}\b", text) is not None


def page(name: str) -> str:
    return (DOCS / "protocol" / f"{name}.md").read_text(encoding="utf-8")


def structs(module: ModuleType) -> Iterator[type[msgspec.Struct]]:
    """List the wire objects that a module defines."""
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, msgspec.Struct):
            yield value


def tags(module: ModuleType) -> Iterator[str]:
    """List the types and actions of the messages that a module defines, without parents."""
    for kind in structs(module):
        tag = kind.__struct_config__.tag
        if isinstance(tag, str) and tag != kind.__name__:
            yield tag


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
