"""Makes the files of a report for test sides in other languages: the answers to ``report:make``."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from functools import partial
from typing import Any

from msgspec import UNSET

from trafficmock.errors import LocalError
from trafficmock.report.data_files import record_of
from trafficmock.report.report_directory import make_report
from trafficmock.server.reports.slow_work import SlowWork
from trafficmock.server.reports.written_recordings import pieces
from trafficmock.wire.inbound import ReportMake
from trafficmock.wire.outbound import RecordingPiece
from trafficmock.wire.payloads import body

MOST_BYTES = 512 * 2**20
"""The most data of a report that is made for a worker."""

_WITHOUT_FILE = "the data of the report has no line with the path of its file before its records"
_TOO_MUCH = f"the data of the report has more than {MOST_BYTES // 2**20} MiB"


def making_steps(
    query: ReportMake, known: MutableMapping[str, bytearray]
) -> Iterator[RecordingPiece | SlowWork[Any]]:
    """Take a part of the data, and make the files when it was the last one.

    :param known: the parts that came before on the same connection, by query.
    :returns: yields what is to be done in a thread, the pieces of the files, and the end.
    """
    data = known.setdefault(query.query_id, bytearray())
    data += body.to_bytes(query.body_base64)
    error = _TOO_MUCH if sum(map(len, known.values())) > MOST_BYTES else ""
    if error or query.more is not True:
        del known[query.query_id]
    if not error and query.more is not True:
        work = SlowWork(partial(_made, bytes(data)))
        yield work
        files, error = work.result()
        for name, content in files.items():
            yield from pieces(query.query_id, content, name)
    yield RecordingPiece(query.query_id, body.NULL, done=True, error=error or UNSET)


def _made(data: bytes) -> tuple[dict[str, bytes], str]:
    """Return the files by name, or why there are none."""
    files: dict[str, list[dict[str, Any]]] = {}
    records: list[dict[str, Any]] | None = None
    for line in data.split(b"\n"):
        record = record_of(line)
        if record is None:
            continue
        if "type" not in record and isinstance(path := record.get("file"), str):
            records = files.setdefault(path, [])
        elif records is None:
            return {}, _WITHOUT_FILE
        else:
            records.append(record)
    try:
        return make_report(files)[1], ""
    except LocalError as error:
        return {}, str(error)
