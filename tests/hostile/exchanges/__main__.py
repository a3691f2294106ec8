"""``python -m tests.hostile.exchanges``: the cases as a table, in Markdown."""

import sys

from tests.hostile.exchanges.cases import GROUPS


def main() -> None:
    """Print them."""
    write = sys.stdout.write
    for group, cases in GROUPS.items():
        write(f"\n## {group} ({len(cases)})\n\n| case | rule | expected |\n|---|---|---|\n")
        for case in cases:
            write(f"| {case.name} | {case.rule} | {case.expectation} |\n")
    write(f"\n{sum(map(len, GROUPS.values()))} cases\n")


if __name__ == "__main__":
    main()
