"""Makes one HTML file of the dashboard and the data that it shows, to be opened without a server.

A page from a disk may neither import modules nor request anything. So the modules become functions
of one script, and the data is in the page, too. The policy of the page allows exactly its own
script and style, by their hashes: nothing that was recorded can run or send anything.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from posixpath import dirname, join, normpath
from typing import Any

DATA_MARK = "<!-- the data of the run -->"
"""Stands in the template where the data goes."""

_MAIN = "js/main.js"
_BOOT = "js/theme-boot.js"
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
_LOADER = """\
const modules = {}, loaded = {};
function load(path) {
  if (!(path in loaded)) modules[path]((loaded[path] = {}));
  return loaded[path];
}
"""


def saved_page(document: Mapping[str, Any]) -> str:
    """Return the page that shows the document of a run."""
    # No text within the element can end it, or begin a comment.
    data = json.dumps(document, separators=(",", ":")).replace("<", "\\u003c")
    element = f'<script type="application/json" id="run">{data}</script>'
    before, after = template().split(DATA_MARK)
    return f"{before}{element}{after}"


@cache
def template() -> str:
    """Return the page without its data, with :data:`DATA_MARK` in its place."""
    static = files("trafficmock.dashboard") / "static"
    index = (static / "index.html").read_text(encoding="utf-8")
    icon = b64encode((static / "favicon.svg").read_bytes()).decode("ascii")
    sheets = re.findall(r'<link rel="stylesheet" href="/([^"]+)">', index)
    style = "\n" + "\n".join((static / sheet).read_text(encoding="utf-8") for sheet in sheets)
    boot = "\n" + (static / _BOOT).read_text(encoding="utf-8")
    picture = f"data:image/svg+xml;base64,{icon}"
    script = "\n" + _script(static).replace("/favicon.svg", picture)
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; "
        f"script-src {_hash(boot)} {_hash(script)}; style-src {_hash(style)}"
    )
    for tag, text in (("script", boot), ("script", script), ("style", style)):
        if f"</{tag}" in text or "<!--" in text:
            raise AssertionError(f"a file of the dashboard would end its own <{tag}>")
    head = [
        f'<meta http-equiv="content-security-policy" content="{policy}">',
        f"<style>{style}</style>",
        f"<script>{boot}</script>",
    ]
    body = [DATA_MARK, f"<script>{script}</script>", "</body>"]
    index = re.sub(r'<link rel="stylesheet"[^>]*>\n', "", index)
    index = re.sub(r"<script[^>]*></script>\n", "", index)
    index = index.replace("</head>", "\n".join([*head, "</head>"]))
    index = index.replace("</body>", "\n".join(body))
    return index.replace("/favicon.svg", picture)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}'"


def _script(static: Traversable) -> str:
    """Return all modules as one script, which runs the main one."""
    made = "\n".join(_function(path, text) for path, text in _modules(static / "js", "js"))
    return f'"use strict";\n{{\n{_LOADER}{made}\nload("{_MAIN}");\n}}\n'


def _modules(directory: Traversable, prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for item in sorted(directory.iterdir(), key=lambda each: each.name):
        path = f"{prefix}/{item.name}"
        if item.is_dir():
            found += _modules(item, path)
        elif path.endswith(".js") and path != _BOOT:
            found.append((path, item.read_text(encoding="utf-8")))
    return found


def _function(path: str, text: str) -> str:
    """Return a module as a function that fills the object of its exports."""

    def imported(found: re.Match[str]) -> str:
        names = re.sub(r"(\w+) as (\w+)", r"\1: \2", found[1])
        return f'const {names} = load("{normpath(join(dirname(path), found[2]))}");'

    exported = [name for _, name in _EXPORT.findall(text)]
    code = _EXPORT.sub(r"\1 \2", _IMPORT.sub(imported, text))
    assigned = f"Object.assign(exports, {{ {', '.join(exported)} }});\n" if exported else ""
    return f'modules["{path}"] = (exports) => {{\n{code}{assigned}}};'
