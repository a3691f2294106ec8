"""The table of client by feature, in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.clients.features import FEATURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.clients.matrix import Result


def table(results: Sequence[Result]) -> str:
    """Write the table, and below it the reasons of all cells that are not ``ok``."""
    clients = list(dict.fromkeys(result.client for result in results))
    lines = ["| feature | " + " | ".join(clients) + " |", "|---" * (len(clients) + 1) + "|"]
    for feature in FEATURES:
        name = feature.__name__.replace("_", " ")
        cells = [_cell(results, client, name) for client in clients]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    reasons = {
        f"- {one.client}{', ' + one.feature if one.state == 'FAILED' else ''}: {one.detail}"
        for one in results
        if one.detail
    }
    return "\n".join([*lines, "", *sorted(reasons)]) + "\n"


def _cell(results: Sequence[Result], client: str, feature: str) -> str:
    """Give both schemes in one word where they agree: http first, then https."""
    states = [r.state for r in results if r.client == client and r.feature in {feature, ""}]
    return states[0] if len(set(states)) == 1 else " / ".join(states)
