"""Draws who imports whom among the packages: ``python -m tools.architecture``.

Read from the source, so the picture on docs/explanation/architecture.md is as the code is.
"""

from __future__ import annotations

import ast
import sys
from html import escape
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "trafficmock"
PICTURE = ROOT / "docs" / "pictures" / "architecture.svg"

MEANINGS = {
    "attach": "how applications join",
    "certificates": "the local authority",
    "cli": "the command trafficmock",
    "command": "one file per command",
    "core": "who decides: no I/O",
    "dashboard": "a process of its own",
    "history": "what is remembered",
    "http": "what every entrance shares",
    "matching": "globs, regexes, filters",
    "proxy": "the forward proxy",
    "records": "what happened",
    "redaction": "secrets become marks",
    "report": "the report of a run",
    "server": "one process, one port",
    "tap": "builds the service",
    "telemetry": "the export by OTLP",
    "testing": "the tests' side",
    "texts": "texts that quote values",
    "wire": "messages of /ws",
}
"""The packages of the picture. Small modules that everybody imports, such as ``errors``, are not
in it."""

_WIDTH, _HEIGHT, _GAP, _FLOOR = 178, 54, 22, 108  # pixels
_EDGE = 24
_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" \
height="{height:g}" font-family="Helvetica, Arial, sans-serif" role="img" \
aria-labelledby="architecture-title">
<title id="architecture-title">{title}</title>
<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" \
orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="#64748b"/></marker></defs>
<rect width="{width:g}" height="{height:g}" rx="10" fill="#ffffff"/>"""


@frozen
class Box:
    """Where a package stands, in pixels."""

    x: float
    y: float

    @property
    def middle(self) -> float:
        """The middle of its upper and lower side."""
        return self.x + _WIDTH / 2


def imports() -> dict[str, set[str]]:
    """Find out which packages each package imports."""
    found: dict[str, set[str]] = {name: set() for name in MEANINGS}
    for path in SOURCE.rglob("*.py"):
        mine = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trafficmock"):
                steps = [*str(node.module).split("."), node.names[0].name]
                if mine in found and steps[1] in found and steps[1] != mine:
                    found[mine].add(steps[1])
    # The console script loads commands and services by name.
    found["cli"] |= {"command", "dashboard", "tap"}
    return found


def below(name: str, edges: dict[str, set[str]]) -> set[str]:
    """List everything that a package reaches through others."""
    return set().union(*({other} | below(other, edges) for other in edges[name]))


def needed(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave out the arrows that others imply."""
    return {
        name: {
            other
            for other in others
            if not any(other in below(third, edges) for third in others - {other})
        }
        for name, others in edges.items()
    }


def floors(edges: dict[str, set[str]]) -> list[list[str]]:
    """Put each package above all that it imports, the lowest floor first."""
    heights: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in heights:
            heights[name] = 1 + max((height(other) for other in edges[name]), default=-1)
        return heights[name]

    levels: dict[int, list[str]] = {}
    for name in sorted(edges):
        levels.setdefault(height(name), []).append(name)
    return [levels[number] for number in sorted(levels)]


def ordered(levels: list[list[str]], edges: dict[str, set[str]]) -> list[list[str]]:
    """Order each floor by what its packages stand on, so that few arrows cross."""
    places: dict[str, float] = {}

    def wish(name: str) -> tuple[float, str]:
        under = [places[other] for other in edges[name]]
        return (sum(under) / len(under) if under else 0.5, name)

    rows = []
    for level in levels:
        row = sorted(level, key=wish)
        places |= {name: (number + 0.5) / len(row) for number, name in enumerate(row)}
        rows.append(row)
    return rows


def draw() -> str:
    """Write the picture."""
    edges = needed(imports())
    rows = ordered(floors(edges), edges)
    width = max(len(row) for row in rows) * (_WIDTH + _GAP) - _GAP + 2 * _EDGE
    height = len(rows) * _FLOOR - (_FLOOR - _HEIGHT) + 2 * _EDGE
    boxes = {}
    for floor, row in enumerate(reversed(rows)):
        start = (width - len(row) * (_WIDTH + _GAP) + _GAP) / 2
        for number, name in enumerate(row):
            boxes[name] = Box(start + number * (_WIDTH + _GAP), _EDGE + floor * _FLOOR)
    arrows = [
        _arrow(boxes[name], boxes[other]) for name in sorted(edges) for other in sorted(edges[name])
    ]
    title = "The packages; an arrow leads to what a package imports"
    lines = [
        _HEAD.format(width=width, height=height, title=title),
        *arrows,
        *(_box(name, box) for name, box in sorted(boxes.items())),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _box(name: str, box: Box) -> str:
    return (
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="8" '
        'fill="#f1f5f9" stroke="#94a3b8"/>'
        f'<text x="{box.middle:g}" y="{box.y + 22:g}" text-anchor="middle" font-size="15" '
        f'font-weight="bold" fill="#0f172a">{escape(name)}</text>'
        f'<text x="{box.middle:g}" y="{box.y + 41:g}" text-anchor="middle" font-size="12" '
        f'fill="#475569">{escape(MEANINGS[name])}</text>'
    )


def _arrow(above: Box, under: Box) -> str:
    start, end = above.y + _HEIGHT, under.y - 2
    bend = (end - start) / 2
    return (
        f'<path d="M{above.middle:g} {start:g} C{above.middle:g} {start + bend:g} '
        f'{under.middle:g} {end - bend:g} {under.middle:g} {end:g}" fill="none" '
        'stroke="#64748b" stroke-width="1.3" marker-end="url(#head)"/>'
    )


def main() -> int:
    """Write the picture into the documentation.

    :returns: the exit status.
    """
    PICTURE.write_text(draw(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
