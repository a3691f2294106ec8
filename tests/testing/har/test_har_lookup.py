"""The entry of a HAR that answers a request."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.testing.har.har_lookup import HarCycleError, HarLookup, HarRequest


class HarTests(SynchronousTestCase):
    """Looking things up in a HAR."""

    def test_boundaries(self) -> None:
        """Multipart bodies are compared without their boundaries."""
        recorded = "--AAA\r\nx\r\n--AAA--"
        entry = {
            "request": {
                "method": "POST",
                "url": "u",
                "headers": [{"name": "Content-Type", "value": "multipart/form-data; boundary=AAA"}],
                "postData": {"text": recorded},
            },
            "response": {"status": 200, "content": {"text": "hit"}},
        }
        lookup = HarLookup([entry], lambda _: b"")
        kind = (("content-type", 'multipart/form-data; boundary="BBB"'),)
        sent = recorded.replace("AAA", "BBB").encode()
        found = lookup.find(HarRequest("u", "POST", kind, sent))
        assert found is not None
        self.assertEqual(found.body, b"hit")
        self.assertIsNone(lookup.find(HarRequest("u", "POST", kind, sent + b"!")))

    def test_circle(self) -> None:
        """A circle of redirects is an error, not an endless loop."""
        response = {"status": 302, "headers": [{"name": "Location", "value": "http://h/"}]}
        entry = {"request": {"method": "GET", "url": "http://h/"}, "response": response}
        with self.assertRaises(HarCycleError):
            HarLookup([entry], lambda _: b"").find(HarRequest("http://h/", "GET", (), b""))
