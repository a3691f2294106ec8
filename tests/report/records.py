"""Records of processes, for tests of what is made of them."""

from typing import Any


def entry(entry_id: str, at: int = 5, **more: Any) -> dict[str, Any]:
    """Make a recorded request."""
    return {
        "id": entry_id,
        "timestamp": at,
        "clientId": "shop",
        "request": {"url": "http://h.test/", "method": "GET", "headers": {}, "bodyBase64": None},
        "outcome": {"kind": "passthrough"},
        "action": "passthrough",
        "events": [],
        **more,
    }


def begin(worker: str, at: int = 1, **more: Any) -> dict[str, Any]:
    """Make the first record of a process."""
    process = {"runner": "pytest", "worker": worker, "pid": at, "startedAt": at, **more}
    return {"type": "begin", "process": process}


def test(test_id: str, at: int = 2, **more: Any) -> dict[str, Any]:
    """Make the record of a test."""
    return {
        "type": "test",
        "test": {
            "id": test_id,
            "title": f"test {test_id}",
            "file": "test_a.py",
            "outcome": "failed",
            "startedAt": at,
            "durationMs": 3,
            "routes": [],
            "requests": [],
            "webSockets": [],
            "omitted": 0,
            **more,
        },
    }


def sections(title: str, worker: str, name: str, text: str) -> dict[str, Any]:
    """Make the record of what a reporter knows of a test."""
    of = {"runner": "pytest", "worker": worker, "title": title}
    return {"type": "sections", "of": of, "sections": [{"title": name, "text": text}]}


def unowned(*requests: dict[str, Any], omitted: int = 0) -> dict[str, Any]:
    """Make the record of what no test owned."""
    return {"type": "unowned", "requests": [*requests], "webSockets": [], "omitted": omitted}


def har(file: str, entries: int, *used: int) -> dict[str, Any]:
    """Make the record of what a test has used of a HAR."""
    return {"type": "har", "file": file, "entries": entries, "used": [*used]}


def counts(**decisions: int) -> dict[str, Any]:
    """Make the counts of requests to one host."""
    requests = {"decisions": decisions, "hosts": {"h.test": decisions} if decisions else {}}
    return {"requests": requests, "webSockets": {"decisions": {}, "hosts": {}}}


def worker(name: str, **more: Any) -> dict[str, Any]:
    """Make what a proxy has counted for a worker; the proxy is named by the first letter."""
    told = {"tests": counts(), "before": counts(), "unowned": counts(), **more}
    return {name: {"worker": name, "service": name[0], **told}}


def end(at: int = 9, **more: Any) -> dict[str, Any]:
    """Make the last record of a process."""
    return {
        "type": "end",
        "process": {"endedAt": at},
        "counts": {},
        "workers": {},
        "refused": [],
        "refusedDropped": 0,
        **more,
    }
