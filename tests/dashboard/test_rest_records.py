"""The types of the REST records, as the scripts of the pages use them."""

from twisted.trial.unittest import SynchronousTestCase

from tools import rest_types


class RestRecordsTests(SynchronousTestCase):
    """``rest-records.d.ts`` says what ``docs/openapi.yaml`` says."""

    def test_up_to_date(self) -> None:
        """The file is as OpenAPI is; ``python -m tools.rest_types`` writes it anew."""
        self.assertEqual(rest_types.FILE.read_text(encoding="utf-8"), rest_types.written())
