"""Writes files and help texts into the pages: ``python -m tools.page_blocks``.

A page is complete wherever it is read, also as plain Markdown on a Git host. This tool writes what
stands between two markers, and a test fails while a page is not current::

    <!-- file begin: examples/shop/conftest.py | caption: conftest.py -->
    <!-- file end -->

=========== ==================================== ==================================================
Marker      Subject                              Options
=========== ==================================== ==================================================
``file``    file, relative to the page           ``caption``, ``language``, ``object`` (a function,
                                                 a class, or the title of a test)
``part``    page, relative to the page           ``after``, ``before``: texts around the part
``help``    command of ``trafficmock``, or none
``table``   one of :data:`TABLES`
``api``     function, class or module            ``without``: members that are left out
=========== ==================================== ==================================================

A new block is one line, ``<!-- file: examples/shop/conftest.py -->``, or a ``{literalinclude}`` of
Sphinx; the tool makes markers of both.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from attrs import frozen

from tools.answer_arguments import camel, sentences
from tools.page_api import api_text
from trafficmock import cli
from trafficmock.command.exit_status import MEANINGS
from trafficmock.core.state.stages import (
    REQUEST_MEANINGS,
    REQUEST_STEPS,
    SOCKET_MEANINGS,
    SOCKET_STEPS,
)
from trafficmock.matching.patterns.framework_calls import FRAMEWORK_CALLS, PREFIX
from trafficmock.proxy.downstream.connection_state import State as ConnectionState
from trafficmock.proxy.transfer.request_states import BodyState, ProxiedRequestState, TransferState
from trafficmock.wire.payloads.abort_codes import NETWORK_ERRORS, PLAYWRIGHT_CODES
from trafficmock.wire.payloads.answer_options import DECLARED, options_of

DOCS = Path(__file__).parents[1] / "docs"
COLUMNS = "88"
LANGUAGES = {
    ".py": "python",
    ".js": "js",
    ".mjs": "js",
    ".cjs": "js",
    ".ts": "ts",
    ".json": "json",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".ini": "ini",
    ".service": "ini",
    ".socket": "ini",
    ".sh": "sh",
    ".java": "java",
    ".go": "go",
    ".rb": "ruby",
    ".php": "php",
    ".vue": "html",
}
"""The language of a block by the suffix of its file."""

_KINDS = "file|part|help|table|api"
_BLOCK = re.compile(
    rf"^<!-- (?P<kind>{_KINDS})(?P<marked> begin)?:(?P<asked>[^\n]*?) -->\n"
    r"(?(marked).*?^<!-- (?P=kind) end -->\n)",
    re.DOTALL | re.MULTILINE,
)
_INCLUDE = re.compile(
    r"^```\{literalinclude\} (?P<file>\S+)\n(?P<options>(?::[^\n]*\n)*)```\n", re.MULTILINE
)
_OPTION = re.compile(r"^:(\w+): *(.*)$", re.MULTILINE)


@frozen
class Asked:
    """What a marker asks for."""

    page: Path
    subject: str
    options: dict[str, str]

    def read(self) -> str:
        """Return the text of the file that is the subject."""
        return (self.page.parent / self.subject).read_text(encoding="utf-8")


def pages() -> Iterator[Path]:
    """List the pages that the tool writes."""
    yield from sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


def rendered(page: Path) -> str:
    """Return the text of a page with all its blocks as they have to be."""
    text = _INCLUDE.sub(_marker_of_include, page.read_text(encoding="utf-8"))
    return _BLOCK.sub(lambda found: _block(page, found), text)


def _marker_of_include(found: re.Match[str]) -> str:
    options = dict(_OPTION.findall(found["options"]))
    options["object"] = options.pop("pyobject", "")
    if options.get("language") == LANGUAGES.get(Path(found["file"]).suffix):
        del options["language"]
    words = [found["file"], *(f"{name}: {value}" for name, value in options.items() if value)]
    return f"<!-- file: {' | '.join(words)} -->\n"


def _block(page: Path, found: re.Match[str]) -> str:
    subject, *options = [word.strip() for word in found["asked"].split(" | ")]
    pairs = (option.partition(": ") for option in options)
    asked = Asked(page, subject, {name: value for name, _, value in pairs})
    kind = found["kind"]
    begin = f"<!-- {kind} begin:{found['asked']} -->"
    return f"{begin}\n\n{_WRITERS[kind](asked).strip()}\n\n<!-- {kind} end -->\n"


def _file(asked: Asked) -> str:
    text, caption = asked.read(), asked.options.get("caption", "")
    if name := asked.options.get("object"):
        find = python_object if asked.subject.endswith(".py") else js_object
        text = find(text, name)
    language = asked.options.get("language") or LANGUAGES[Path(asked.subject).suffix]
    head = f"**{caption}**\n\n" if caption else ""
    return f"{head}```{language}\n{text.rstrip()}\n```"


def python_object(text: str, name: str) -> str:
    """Return the lines of a function or class of a Python file, with its decorators.

    :raises LookupError: if there is none of that name.
    """
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and (
            node.name == name
        ):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    raise LookupError(name)


def js_object(text: str, name: str) -> str:
    """Return the lines of a function, or of the test with a title, of a JavaScript file.

    The file is formatted as prettier does: what begins at the margin ends at the margin. The
    comment above belongs to it.

    :raises LookupError: if there is none of that name.
    """
    begin = rf"(?:async )?function {re.escape(name)}\(|test\(\"{re.escape(name)}\","
    found = re.search(
        rf"(?:^/\*\*.*\*/\n)?^(?:{begin}).*\n(?:^[ \n].*\n?)*?^}}.*$", text, re.MULTILINE
    )
    if found is None:
        raise LookupError(name)
    return found[0]


def _part(asked: Asked) -> str:
    _, _, rest = asked.read().partition(asked.options["after"])
    text, _, _ = rest.partition(asked.options["before"])
    return text.rstrip("* \n")


def help_text(name: str) -> str:
    """Return what ``trafficmock NAME --help`` prints; without a name, the program's own help."""
    if not name:
        return cli.usage_text()
    command = cli.COMMANDS[name]
    with patch.dict(os.environ, COLUMNS=COLUMNS):
        if command.module is None:
            return str(command.usage(name))
        text: str = import_module(f"trafficmock.command.{command.module}").parser().format_help()
        return text


def _help(asked: Asked) -> str:
    return f"```text\n{help_text(asked.subject).rstrip()}\n```"


def _exit_statuses() -> Iterator[tuple[str, ...]]:
    yield "Status", "Meaning"
    yield from ((str(status), text) for status, text in MEANINGS.items())


def _abort_codes() -> Iterator[tuple[str, ...]]:
    yield "Abort code", "Error in a Node application", "Playwright's codes that count as it"
    for code, error in NETWORK_ERRORS.items():
        given = [f"`{word}`" for word, sent in PLAYWRIGHT_CODES.items() if sent == code != word]
        yield f"`{code}`", f"`{error.code}`, by `{error.syscall}`", ", ".join(given)


def _network_errors() -> Iterator[tuple[str, ...]]:
    yield "`abort(...)`", "`code`"
    for error in dict.fromkeys(error.code for error in NETWORK_ERRORS.values()):
        codes = [f"`{code}`" for code, each in NETWORK_ERRORS.items() if each.code == error]
        yield ", ".join(codes), f"`{error}`"


def _framework_calls() -> Iterator[tuple[str, ...]]:
    yield "Allow it by", "What is sent", "To", "Not sent with"
    for call in FRAMEWORK_CALLS:
        to = f"`{call.host}`" + ("" if call.path == ".*" else f": {call.shown}")
        off = f"`{call.off}`" if call.off else ""
        yield f"`{PREFIX}{call.preset}`", f"{call.sender}: {call.what}", to, off


def _answer_options() -> Iterator[tuple[str, ...]]:
    yield "Option", "In JavaScript", "Of", "Meaning"
    for name, option in DECLARED:
        of = [f"`{_WRITTEN_CALLS.get(call, call)}`" for call in option.calls]
        options = options_of(option.calls[-1])
        words = sentences(option, options, _DURATION, "By default")
        text = words[0].upper() + words[1:].replace("``", "`")
        yield f"`{name}`", f"`{camel(name)}`", ", ".join(of), text


_DURATION = "milliseconds (in Python also a ``timedelta``)"
_WRITTEN_CALLS = {"step": "sequence", "continue": "continue_"}
"""The calls that a test writes in another way than the declaration names them."""


def _stages(
    steps: dict[Any, frozenset[Any]], meanings: dict[Any, str], subject: str
) -> Iterator[tuple[str, ...]]:
    """Write a table of stages of the core, with what may follow each."""
    yield "Stage", subject, "May become"
    for stage, following in steps.items():
        names = [f"`{each.name}`" for each in steps if each in following]
        yield f"`{stage.name}`", meanings[stage], ", ".join(names)


def _states(states: type[Enum], subject: str) -> Iterator[tuple[str, ...]]:
    """Write a table of states of the forward proxy, with what may follow each."""
    yield "State", subject, "May become"
    for state in states:
        following: Any = state
        names = [f"`{each.name}`" for each in following.following]
        yield f"`{state.name}`", str(state.value), ", ".join(names)


TABLES: dict[str, Callable[[], Iterator[tuple[str, ...]]]] = {
    "request stages": lambda: _stages(REQUEST_STEPS, REQUEST_MEANINGS, "The request"),
    "WebSocket stages": lambda: _stages(SOCKET_STEPS, SOCKET_MEANINGS, "The WebSocket"),
    "client states": lambda: _states(ConnectionState, "The proxy"),
    "request states": lambda: _states(ProxiedRequestState, "The request"),
    "body states": lambda: _states(BodyState, "The body"),
    "transfer states": lambda: _states(TransferState, "The exchange"),
    "answer options": _answer_options,
    "exit statuses": _exit_statuses,
    "abort codes": _abort_codes,
    "network errors": _network_errors,
    "framework calls": _framework_calls,
}
"""The rows of each table, with its head."""


def _table(asked: Asked) -> str:
    head, *rows = [f"| {' | '.join(cells)} |" for cells in TABLES[asked.subject]()]
    rule = re.sub(r"[^|]+", "---", head)
    return "\n".join([head, rule, *rows]).replace("|  |", "| |")


def _api(asked: Asked) -> str:
    return api_text(asked.subject, without=asked.options.get("without", "").split())


_WRITERS: dict[str, Callable[[Asked], str]] = {
    "file": _file,
    "part": _part,
    "help": _help,
    "table": _table,
    "api": _api,
}


def main() -> int:
    """Write all pages anew.

    :returns: the exit status.
    """
    for page in pages():
        text = rendered(page)
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{page.relative_to(DOCS)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
