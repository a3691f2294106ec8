"""Tables and JSON files of the figures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import attrs

from benchmarks.figures import Figures, cpu_ratio, ratio


class Goal(Protocol):
    """The fields of a load that a comparison uses: its title and its goals."""

    @property
    def title(self) -> str:
        """The name in the table."""

    @property
    def cpu_target(self) -> float | None:
        """The goal of the ratio of CPU per request, ours over theirs."""

    @property
    def memory_target(self) -> float | None:
        """The goal of the ratio of resident memory, ours over theirs."""


@attrs.frozen
class Comparison:
    """The figures of one load on both targets."""

    load: Goal
    ours: Figures
    theirs: Figures

    @property
    def cpu_ratio(self) -> float:
        """The ratio of CPU per request, ours over theirs, of neighbouring rounds."""
        return cpu_ratio(self.ours, self.theirs)

    @property
    def memory_ratio(self) -> float:
        """The ratio of resident memory, ours over theirs."""
        return ratio(self.ours.resident_mb, self.theirs.resident_mb)

    @property
    def reached(self) -> bool:
        """Whether all goals of the load are reached; a load may have none."""
        return _within(self.cpu_ratio, self.load.cpu_target) and _within(
            self.memory_ratio, self.load.memory_target
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the row with its ratios, for JSON."""
        return attrs.asdict(self) | {
            "cpu_ratio": self.cpu_ratio,
            "memory_ratio": self.memory_ratio,
            "reached": self.reached,
        }


def _within(value: float, limit: float | None) -> bool:
    return limit is None or value <= limit


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table whose columns are aligned for a terminal."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    text = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)


def comparison_table(rows: Sequence[Comparison], names: tuple[str, str]) -> str:
    """Return the table of ``compare``: CPU, then latency, then memory."""
    one, two = names
    head = (
        *("load", f"CPU µs {one}", f"CPU µs {two}", "ratio", "at most", ""),
        *(f"first requests {one}/{two}", f"p50 ms {one}/{two}", f"p99 ms {one}/{two}", "messages"),
        *(f"RSS MB {one}/{two}", "peak MB"),
    )
    return table(head, [_comparison_row(row) for row in rows])


def _comparison_row(row: Comparison) -> list[str]:
    ours, theirs, load = row.ours, row.theirs, row.load
    return [
        load.title,
        cpu(ours),
        cpu(theirs),
        f"{row.cpu_ratio:.2f}",
        _limits(load),
        "" if load.cpu_target is None else ("yes" if row.reached else "NO"),
        f"{ours.first_us:,.0f} / {theirs.first_us:,.0f}",
        f"{ours.p50_ms:.2f} / {theirs.p50_ms:.2f}",
        f"{ours.p99_ms:.2f} / {theirs.p99_ms:.2f}",
        f"{ours.messages:.0f} / {theirs.messages:.0f}",
        f"{ours.resident_mb:.0f} / {theirs.resident_mb:.0f}",
        f"{ours.peak_mb:.0f} / {theirs.peak_mb:.0f}",
    ]


def cpu(figures: Figures) -> str:
    """Return the median of the CPU per request, with the quartiles in brackets."""
    low, high = figures.cpu_quartiles
    return f"{figures.cpu_us:,.0f} ({low:,.0f}-{high:,.0f})"


def _limits(load: Goal) -> str:
    if load.cpu_target is None:
        return ""
    if load.memory_target is None:
        return f"{load.cpu_target}"
    return f"{load.cpu_target}, memory {load.memory_target}"


def write_json(path: Path, about: dict[str, str], result: Any) -> None:
    """
    Write ``result`` as JSON.

    :param about: versions and settings.
    :param result: attrs objects, or lists and dicts of them.
    """

    def plain(value: Any) -> Any:
        return attrs.asdict(value)

    path.write_text(json.dumps({"about": about, "result": result}, default=plain, indent=2) + "\n")
