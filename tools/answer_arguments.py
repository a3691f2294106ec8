"""Writes the options of answers into the APIs of tests: ``python -m tools.answer_arguments``.

``trafficmock/wire/payloads/answer_options.py`` declares them. In a file of :data:`FILES`, what
stands between two comments is written by this tool, for the call that the first one names::

    # options begin: fulfill
    status: int | None = None,
    # options end

In Python, so are the ``:param`` lines of these arguments in the docstring below. The blocking API
follows from the awaited one (``tools.blocking_api``), and the pages from the docstrings
(``tools.page_blocks``). A test fails while a file is not current.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from textwrap import fill

from trafficmock.wire.payloads.answer_options import AnswerOptions, Option, options_of

REPOSITORY = Path(__file__).parents[1]
_OBJECTS = REPOSITORY / "trafficmock" / "testing" / "objects"
FILES = [
    _OBJECTS / "async_traffic_mock.py",
    _OBJECTS / "async_route.py",
    REPOSITORY / "playwright" / "types.d.ts",
]

_REGION = re.compile(
    r"(?P<begin>^ *(?://|#) options begin: (?P<call>\w+)\n)"
    r".*?(?P<end>^(?P<indent> *)(?://|#) options end\n)",
    re.DOTALL | re.MULTILINE,
)
_PARAM = r"(?:^ +:param (?:{names}):.*\n(?:^ {{12}}.*\n)*)+"
_WIDTHS = {".py": 100, ".ts": 120}
_DURATION = "milliseconds or a ``timedelta``"
_NO_NONE = ("Any", "Delay")
"""Types of Python that have ``None`` already."""


def written(path: Path) -> str:
    """Return the text of a file with its options as they are declared."""
    text = path.read_text(encoding="utf-8")
    is_python = path.suffix == ".py"
    text = _REGION.sub(_python_region if is_python else _typescript_region, text)
    if not is_python:
        return text
    for region in reversed([*_REGION.finditer(text)]):
        doc, end, rest = text[region.end() :].partition("\n    def ")
        text = text[: region.end()] + _with_docs(doc, options_of(region["call"])) + end + rest  # type: ignore[arg-type] # by markers
    return text


def _python_region(region: re.Match[str]) -> str:
    lines = [
        f"{region['indent']}{name}: {_annotation(option)} = None,\n"
        for name, option in options_of(region["call"]).items()  # type: ignore[arg-type] # by markers
    ]
    return "".join([region["begin"], *lines, region["end"]])


def _annotation(option: Option) -> str:
    return option.python if option.python in _NO_NONE else f"{option.python} | None"


def _with_docs(doc: str, options: dict[str, Option]) -> str:
    """Replace the lines of these parameters in a docstring, where the first of them stands."""
    lines = "".join(
        fill(
            f":param {name}: {sentences(option, options, _DURATION, 'By default')}",
            _WIDTHS[".py"],
            initial_indent=" " * 8,
            subsequent_indent=" " * 12,
            break_on_hyphens=False,
        )
        + "\n"
        for name, option in options.items()
    )
    pattern = _PARAM.format(names="|".join(options))
    return re.sub(pattern, lambda _: lines, doc, count=1, flags=re.MULTILINE)


def sentences(option: Option, options: dict[str, Option], duration: str, default: str) -> str:
    """Return what an option is, and what holds without it.

    :param options: all of the call.
    :param duration: how the language writes a time.
    :param default: the words before what holds without it.
    """
    without = option.inherited if "response" in options and option.inherited else option.default
    ends = f" {default} {without}." if without else ""
    return f"{option.text.replace('{duration}', duration)}.{ends}"


def _typescript_region(region: re.Match[str]) -> str:
    options = options_of(region["call"])  # type: ignore[arg-type] # by markers
    members = [
        _member(name, sentences(option, options, "milliseconds", "Default:"), option, region)
        for name, option in options.items()
    ]
    return "".join([region["begin"], *members, region["end"]])


def _member(name: str, words: str, option: Option, region: re.Match[str]) -> str:
    indent = region["indent"]
    names = "|".join(AnswerOptions.__struct_fields__)
    text = re.sub(f"`(?:{names})`", lambda found: camel(found[0]), words.replace("``", "`"))
    text = text[0].upper() + text[1:]
    line, width = f"{indent}/** {text} */", _WIDTHS[".ts"]
    if len(line) > width:
        inner = fill(
            text,
            width,
            initial_indent=f"{indent} * ",
            subsequent_indent=f"{indent} * ",
            break_on_hyphens=False,
        )
        line = f"{indent}/**\n{inner}\n{indent} */"
    return f"{line}\n{indent}readonly {camel(name)}?: {option.typescript};\n"


def camel(name: str) -> str:
    """Return the name of an option in JavaScript."""
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


def main() -> None:
    """Write the files that have changed."""
    for path in FILES:
        text = written(path)
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{path.name} written\n")


if __name__ == "__main__":
    main()
