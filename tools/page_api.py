"""Writes docstrings as Markdown, for the pages that list an API."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

_ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`")
_FIELD = re.compile(r":(?P<kind>param|ivar|returns?|raises?)(?: (?P<name>[^:]+))?: ?(?P<text>.*)")


def api_text(name: str, *, without: list[str]) -> str:
    """Write the signature and docstring of a function, or of a class or module with its members.

    :param name: the dotted name.
    :param without: names of members that are left out; ``members`` for all of them.
    """
    subject = found(name)
    if inspect.ismodule(subject):
        return "\n\n".join(_classes(subject))
    parts = [_entry(subject, name.rpartition(".")[2], name, "###")]
    if inspect.isclass(subject) and "members" not in without:
        parts += _members(subject, without)
    return "\n\n".join(parts)


def found(name: str) -> Any:
    """Import a dotted name: a module, or what a module defines.

    :raises AttributeError: if the module does not have it.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        return getattr(import_module(module), attribute)


def _classes(module: Any) -> Iterator[str]:
    own = [
        each for each in vars(module).values() if getattr(each, "__module__", "") == module.__name__
    ]
    for each in own:
        if inspect.isclass(each) and not each.__name__.startswith("_"):
            yield _entry(each, each.__name__, each.__name__, "###")


def _members(subject: type, without: list[str]) -> Iterator[str]:
    """Write the public members that the library defines, and not those of ``unittest`` or trial."""
    library = subject.__module__.partition(".")[0]
    ours = [vars(each) for each in subject.__mro__ if each.__module__.startswith(library)]
    for name in dir(subject):
        value = inspect.getattr_static(subject, name)
        known = any(name in names for names in ours)
        if name.startswith("_") or name in without or inspect.isclass(value) or not known:
            continue
        if isinstance(value, property) or callable(getattr(subject, name, None)):
            yield _entry(getattr(subject, name), name, name, "####")


def _entry(subject: Any, name: str, title: str, level: str) -> str:
    """Write one entry; a class has no signature, because the library makes its objects."""
    doc = markdown(inspect.getdoc(subject) or "")
    if inspect.isroutine(subject):
        doc = f"```python\n{title}{signature(subject)}\n```\n\n{doc}"
    elif title != name:
        doc = f"`{title}`\n\n{doc}"
    return f"{level} `{name}`\n\n{doc}".rstrip()


def signature(subject: Any) -> str:
    """Write the names and defaults of the parameters; their types are in the docstring."""
    taken = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in inspect.signature(subject).parameters.values()
        if each.name != "self"
    ]
    return str(inspect.Signature(taken))


def markdown(doc: str) -> str:
    """Write a docstring as Markdown: its text, and a list of parameters, result and errors."""
    text = _ROLE.sub(r"`\1`", doc).replace("``", "`")
    lines: list[str] = []
    for line in text.splitlines():
        field = _FIELD.match(line)
        if field is None:
            lines.append(
                line.replace("    ", "  ", 1) if lines and line.startswith("    ") else line
            )
            continue
        if lines and lines[-1] and not lines[-1].startswith(("- ", "  ")):
            lines.append("")
        lines.append(f"- {_label(field)}: {field['text']}")
    return "\n".join(line.rstrip() for line in lines)


def _label(field: re.Match[str]) -> str:
    if field["kind"].startswith("return"):
        return "returns"
    name = f"`{field['name']}`"
    return f"raises {name}" if field["kind"].startswith("raise") else name
