"""The JavaScript reporter does the same with the same data."""

import json
import subprocess
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.report.records import begin, counts, end, entry, har, sections, test, unowned, worker
from tests.support.processes.node_parts import node_binary
from tests.support.processes.proxy_process import REPOSITORY
from trafficmock.report.run_document import run_document
from trafficmock.report.saved_page import saved_page

REPORT = REPOSITORY / "playwright" / "src" / "report"
SCRIPT = """
const { runDocument } = require(process.argv[1] + "/run-document.js");
const { savedPage } = require(process.argv[1] + "/report-directory.js");
const files = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const page = savedPage({ text: "</script>\u00e9" });
process.stdout.write(JSON.stringify([files.map(runDocument), page]));
"""


def _ends(number: int) -> dict[str, Any]:
    refused = {"kind": "http", "method": "GET", "url": "http://p.test/", "clientId": "shop"}
    told = {"tests": counts(fulfill=number), "unowned": counts(passthrough=number, abort=1)}
    return end(
        counts={"failed": number, "passed": 1},
        workers=worker(f"{number % 2}-{number}", before=counts(passthrough=number - 1), **told),
        refused=[{**refused, "count": number}],
        refusedDropped=number,
    )


_numbers = st.integers(1, 4)
_files = st.lists(
    st.tuples(
        st.builds(lambda at: begin(f"gw{at}", at, runStartedAt=at // 2), _numbers),
        st.none() | st.builds(_ends, _numbers),
        st.builds(lambda at: test(f"t{at}", at), _numbers),
        st.builds(lambda at: unowned(entry(f"r{at}", at), omitted=at), _numbers),
        st.builds(lambda at: har(f"{at % 2}.har", at, at, 1), _numbers),
        st.none() | st.builds(lambda at: sections(f"test t{at}", "gw1", "output", "x"), _numbers),
        st.none() | st.builds(_ends, _numbers),
    ).map(lambda records: [record for record in records if record is not None]),
    max_size=4,
)


class JavaScriptTests(SynchronousTestCase):
    """``playwright/src/report``."""

    @given(st.lists(_files, min_size=20, max_size=20))
    @settings(max_examples=1)
    def test_same(self, runs: list[list[list[dict[str, Any]]]]) -> None:
        """It makes the same document of the same records, and the same page of a document."""
        done = subprocess.run(
            [str(node_binary()), "-e", SCRIPT, str(REPORT)],
            input=json.dumps(runs),
            capture_output=True,
            text=True,
            check=True,
        )
        documents, page = json.loads(done.stdout)
        self.assertEqual(documents, [run_document(files) for files in runs])
        self.assertEqual(page, saved_page({"text": "</script>\u00e9"}).replace("\\u00e9", "é"))
