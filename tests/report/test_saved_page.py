"""The dashboard as one file; ``tests/dashboard/browser/test_report.py`` opens it."""

import json
import re
from base64 import b64encode
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.report.saved_page import saved_page, template

_DATA = re.compile(r'<script type="application/json" id="run">(.*?)</script>', re.DOTALL)


class SavedPageTests(SynchronousTestCase):
    """Nothing of it is elsewhere."""

    def test_alone(self) -> None:
        """It loads no script, style or picture, and imports no module."""
        page = template()
        self.assertEqual(re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(?!data:)', page), [])
        self.assertEqual(re.findall(r"^(?:import|export) ", page, re.MULTILINE), [])
        self.assertNotIn("/favicon.svg", page)

    def test_policy(self) -> None:
        """Its policy allows exactly its own scripts and its style, by their hashes."""
        page = saved_page({"tests": []})
        policy = re.findall(r'http-equiv="content-security-policy" content="([^"]*)"', page)[0]
        parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        for tag, directive in (("script", "script-src"), ("style", "style-src")):
            texts = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
            hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in texts]
            self.assertEqual(parts[directive], " ".join(f"'sha256-{each}'" for each in hashes))
        self.assertEqual(parts["default-src"], "'none'")

    @given(st.text() | st.sampled_from(["</script>", "<!--<script>", "\ud800", "]]>"]))
    def test_data(self, text: str) -> None:
        """The data is what was given, whatever it has, and cannot end its element."""
        page = saved_page({"text": text})
        found = _DATA.findall(page)
        self.assertEqual([json.loads(each) for each in found], [{"text": text}])
        self.assertNotIn("<", found[0])
