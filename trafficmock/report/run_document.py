"""Makes one document of the records of all processes of a run.

The published schema of it is ``docs/run.schema.json``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from trafficmock import __version__
from trafficmock.report.data_files import FORMAT

_SIDES = ("requests", "webSockets")


def run_document(files: Iterable[Sequence[dict[str, Any]]]) -> dict[str, Any]:
    """Merge the records of processes.

    :param files: the records of each process.
    :returns: the document of ``run.json``.
    """
    processes: list[dict[str, Any]] = []
    tests: list[dict[str, Any]] = []
    counts: dict[str, int] = {}
    workers: dict[str, dict[str, Any]] = {}
    unowned: dict[str, dict[str, dict[str, Any]]] = {side: {} for side in _SIDES}
    refused: dict[tuple[str, ...], dict[str, Any]] = {}
    hars: dict[str, dict[str, Any]] = {}
    added: list[dict[str, Any]] = []
    omitted = dropped = 0
    for records in files:
        process: dict[str, Any] = {}
        for record in records:
            match record.get("type"):
                case "begin":
                    process = {**record["process"], "ended": False}
                    processes.append(process)
                case "test":
                    worker = {key: process[key] for key in ("runner", "worker") if key in process}
                    tests.append(record["test"] | worker)
                case "sections":
                    added.append(record)
                case "har":
                    _add_use(hars, record)
                case "unowned":
                    _add_unowned(unowned, record)
                    omitted = max(omitted, record["omitted"])
        if (end := _end(records)) is not None:
            process |= {"ended": True, **end["process"]}
            for outcome, count in end["counts"].items():
                counts[outcome] = counts.get(outcome, 0) + count
            run = process.get("runStartedAt", process.get("runParent"))
            workers |= {key: each | {"run": run} for key, each in end.get("workers", {}).items()}
            _highest(refused, end.get("refused", ()))
            dropped = max(dropped, end.get("refusedDropped", 0))
    _add_sections(tests, added)
    return {
        "format": FORMAT,
        "version": __version__,
        "processes": sorted(processes, key=lambda each: (each["startedAt"], each["pid"])),
        "counts": dict(sorted(counts.items())),
        "totals": {side: _total([*workers.values()], side) for side in _SIDES},
        "tests": sorted(tests, key=lambda test: (test["startedAt"], test["id"])),
        "unowned": {
            **{side: _oldest_first(unowned[side].values()) for side in _SIDES},
            "omitted": omitted,
        },
        "refused": list(refused.values()),
        "refusedDropped": dropped,
        "hars": [hars[file] | {"used": sorted(hars[file]["used"])} for file in sorted(hars)],
    }


def _end(records: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the last record of the end: a worker thread writes one after each of its tests."""
    return next((each for each in reversed(records) if each.get("type") == "end"), None)


def _add_unowned(unowned: dict[str, dict[str, dict[str, Any]]], record: dict[str, Any]) -> None:
    for side in _SIDES:
        unowned[side] |= {each["id"]: each for each in record[side]}


def _add_sections(tests: Iterable[dict[str, Any]], added: Sequence[dict[str, Any]]) -> None:
    """Add what a reporter knows of tests, whose ids it does not know."""
    for test in tests:
        for record in added:
            if all(test.get(key) == value for key, value in record["of"].items()):
                test["sections"] = [*test.get("sections", ()), *record["sections"]]


def _add_use(hars: dict[str, dict[str, Any]], record: dict[str, Any]) -> None:
    """Add what a test has used of a HAR to what others have."""
    known = hars.setdefault(record["file"], {"file": record["file"], "entries": 0, "used": set()})
    known["entries"] = max(known["entries"], record["entries"])
    known["used"].update(record["used"])


def _highest(
    refused: dict[tuple[str, ...], dict[str, Any]], found: Iterable[dict[str, Any]]
) -> None:
    """Keep the highest count of each refused request: a proxy counts for all its workers."""
    for each in found:
        key = each["kind"], each.get("method", ""), each["url"], each["clientId"]
        if key not in refused or refused[key]["count"] < each["count"]:
            refused[key] = each


def _total(workers: Sequence[dict[str, Any]], side: str) -> dict[str, Any]:
    """Return what the tests of the run had, and what of no test came while it ran.

    :param workers: the counts of each connection of a worker with a proxy (``WorkerCounts``), with
        its ``service`` and ``run``. Those of no test only rise, and workers share them: a run began
        with the least of them, and ended with the most. What came between two runs is of neither,
        and what came while two ran is there once.
    """
    counted = sum((_cells(each["tests"][side]) for each in workers), Counter[tuple[str, str]]())
    for service in {each["service"] for each in workers}:
        of_service = [each for each in workers if each["service"] == service]
        runs = [
            [each for each in of_service if each["run"] == run]
            for run in {each["run"] for each in of_service}
        ]
        for before, after in _spans(_span(run, side) for run in runs):
            counted += after - before
    decisions: Counter[str] = Counter()
    hosts: dict[str, dict[str, int]] = {}
    for (host, action), number in sorted(counted.items()):
        decisions[action] += number
        hosts.setdefault(host, {})[action] = number
    return {
        "total": counted.total(),
        "decisions": dict(sorted(decisions.items())),
        "hosts": hosts,
    }


_Counts = Counter[tuple[str, str]]


def _span(workers: Sequence[dict[str, Any]], side: str) -> tuple[_Counts, _Counts]:
    """Return the counts with which a run began and ended."""
    before = min((_cells(each["before"][side]) for each in workers), key=Counter.total)
    after = max((_cells(each["unowned"][side]) for each in workers), key=Counter.total)
    return before, after


def _spans(of_runs: Iterable[tuple[_Counts, _Counts]]) -> list[tuple[_Counts, _Counts]]:
    """Join the spans of runs that overlap."""
    joined: list[tuple[_Counts, _Counts]] = []
    for before, after in sorted(of_runs, key=lambda span: (span[0].total(), span[1].total())):
        if joined and before.total() <= joined[-1][1].total():
            first, last = joined[-1]
            joined[-1] = first, max(last, after, key=Counter.total)
        else:
            joined.append((before, after))
    return joined


def _cells(counts: dict[str, Any]) -> Counter[tuple[str, str]]:
    hosts: dict[str, dict[str, int]] = counts["hosts"]
    return Counter({(host, action): n for host, of in hosts.items() for action, n in of.items()})


def _oldest_first(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(entries, key=lambda entry: (entry["timestamp"], entry["id"]))
