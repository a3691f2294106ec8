"""Secrets where lines matter: header lines, YAML, and the events of a stream."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from trafficmock.redaction import secret_names
from trafficmock.redaction.secret_names import is_secret
from trafficmock.texts.byte_patterns import BytePattern

_CREDENTIALS = BytePattern(
    r"((?:^|\n|\r)[ \t]*(?:proxy-)?authorization[ \t]{0,4}:[ \t]{0,4})"
    rf"((?:{secret_names.SCHEMES}[ \t]{{1,4}})?)([^ \t\r\n][^\r\n]*)",
    any_case=True,
)
_YAML: Final = (
    r"(?:^|\n|\r|: |[\[({])[ \t]*(?:- )?[\"']?([A-Za-z0-9_.-]{0,40}"
    rf"(?:{secret_names.NAMES}|{secret_names.SPACED_NAMES}|\b(?:{secret_names.SHORT}))"
    r"[A-Za-z0-9_.-]{0,40})[\"']?:[ \t]{0,4}(?:[|>][0-9+-]{0,2})?[ \t]{0,4}\r?\n"
)
_BENEATH = BytePattern(_YAML, any_case=True)
_SHORT_LINE = BytePattern(
    rf"((?:^|\n|\r)[ \t]*(?:- )?[\"']?(?:{secret_names.SHORT})[\"']?:[ \t]{{1,4}}[\"']?)"
    r"([^ \t\r\n\"'|>][^ \t\r\n\"']*[0-9][^ \t\r\n\"']*|[0-9]+)",
)
"""A short name in lower case at the begin of a line, as in YAML; others are usual words."""

_PAIR = BytePattern(
    r"(\b(?:name|key):[ \t]{1,4}[\"']?)([A-Za-z0-9_.-]{1,80})"
    r"([\"']?[ \t]{0,4}\r?\n[ \t]*value:[ \t]{1,4}[\"']?)([^ \t\r\n\"'|>][^\r\n\"']*)",
)
"""A name and a value on lines of their own, as in the environment of containers."""

_LINE_END: Final = r"(?:\r\n|\n|\r)"
_EVENT = re.compile(rf"data:[^\r\n]*(?:{_LINE_END}data:[^\r\n]*)*")
_DATA = re.compile(r"(data:[ \t]?)([^\r\n]*)(\r\n|\n|\r|)")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_INDENTED = re.compile(r"([ \t]*)((?:- )?)((?:[\"']?[\w. -]{1,60}[\"']?:(?: |$))?[ \t]*)(.*)")


def redacted_events(text: str, text_of: Callable[[str], str]) -> str:
    """Replace the secrets in the data of events; lines of data of one event are one text.

    :param text_of: replaces the secrets in a text.
    """

    def event(found: re.Match[str]) -> str:
        lines = _DATA.findall(found[0])
        old = "\n".join(line for _, line, _ in lines)
        new = text_of(old)
        if new == old:
            return found[0]
        head, end = lines[0][0], next((end for _, _, end in lines if end), "\n")
        made = [f"{head}{line}" for line in new.split("\n")]
        if len(made) == len(lines):
            written = new.split("\n")
            return "".join(
                f"{name}{line}{after}"
                for (name, _, after), line in zip(lines, written, strict=True)
            )
        return end.join(made)

    return _EVENT.sub(event, text)


def redacted_lines(text: str, mark: Callable[[str], str]) -> str:
    """Replace the secrets that lines have by a name before them.

    :param mark: returns what stands for a secret.
    """

    def credentials(groups: Sequence[str]) -> str:
        before, scheme, value = groups
        return f"{before}{scheme}{value if '[redacted:' in value else mark(value.rstrip())}"

    def pair(groups: Sequence[str]) -> str:
        before, name, between, value = groups
        plain = value.rstrip()
        is_found = is_secret(name) and "[redacted:" not in value
        return f"{before}{name}{between}{value.replace(plain, mark(plain)) if is_found else value}"

    text = _CREDENTIALS.replace(text, credentials)
    text = _SHORT_LINE.replace(text, lambda line: f"{line[0]}{mark(line[1])}")
    if "\n" in text:
        text = _beneath(text, mark)
        if "value:" in text:
            text = _PAIR.replace(text, pair)
    return text


def _beneath(text: str, mark: Callable[[str], str]) -> str:
    """Replace the lines that are indented below the name of a secret, as in YAML."""
    parts, last = [], 0
    for name, end in _BENEATH.ends(text):
        if end <= last or not is_secret(name):
            continue
        begin = max(text.rfind("\n", 0, end - 2), text.rfind("\r", 0, end - 2)) + 1
        head = text[begin:end]
        depth = len(head) - len(head.lstrip(" \t"))
        is_block = head.rstrip()[-1:] != ":"
        lines, after = _deeper(text, end, depth)
        if not lines:
            continue
        parts.append(text[last:end])
        parts += _block(lines, mark) if is_block else _mapping(lines, mark)
        last = after
    return "".join([*parts, text[last:]]) if parts else text


def _deeper(text: str, at: int, depth: int) -> tuple[list[tuple[str, str]], int]:
    """Return the lines from a place on that are indented deeper, or empty, and where they end."""
    lines: list[tuple[str, str]] = []
    while at < len(text):
        found = _LINE.match(text, at)
        if found is None:
            break
        line = found[1]
        indented = len(line) - len(line.lstrip(" \t"))
        if line.strip() and indented <= depth:
            break
        lines.append((line, found[2]))
        at = found.end()
    while lines and not lines[-1][0].strip():
        line, end = lines.pop()
        at -= len(line) + len(end)
    return lines, at


def _block(lines: list[tuple[str, str]], mark: Callable[[str], str]) -> list[str]:
    """Return one mark for a text of several lines."""
    first, last = lines[0][0], lines[-1][1]
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    plain = "\n".join(line.removeprefix(indent) for line, _ in lines).strip()
    return [f"{indent}{mark(plain)}{last}"]


def _mapping(lines: list[tuple[str, str]], mark: Callable[[str], str]) -> list[str]:
    made = []
    for line, end in lines:
        indent, dash, name, value = _INDENTED.fullmatch(line).groups()  # type: ignore[union-attr]
        bare = value.strip("\"' \t")
        is_value = bool(bare) and bool(dash or name) and bare[0] not in "#|>&*{["
        new = value.replace(bare, mark(bare)) if is_value else value
        made.append(f"{indent}{dash}{name}{new}{end}")
    return made
