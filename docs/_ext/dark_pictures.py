"""Adds the dark picture to each ``NAME-light`` that has a ``NAME-dark`` beside it.

The pages name the light one alone, as plain Markdown; the theme shows the one that fits.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def add_dark_pictures(app: Sphinx, document: nodes.document) -> None:
    """Put the dark picture after each light one."""
    folder = Path(app.env.doc2path(app.env.docname)).parent
    for light in list(document.findall(nodes.image)):
        name = str(light["uri"]).replace("-light.", "-dark.")
        if name != light["uri"] and (folder / name).exists():
            dark = nodes.image(uri=name, alt=light.get("alt", ""), classes=["only-dark"])
            light["classes"].append("only-light")
            light.parent.insert(light.parent.index(light) + 1, dark)


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.connect("doctree-read", add_dark_pictures, priority=1)
    return {"parallel_read_safe": True}
