"""Any request is compared with any recorded one, by any rules."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from tests.support.playbook import REDACTOR
from trafficmock.core.har.har_lookup import HarLookup
from trafficmock.core.har.har_parts import HarEntryError
from trafficmock.core.har.match_rules import PARTS, HarQuestion, MatchRuleError, MatchRules
from trafficmock.core.http.nearest_entry import missing_entry
from trafficmock.matching import PatternCache
from trafficmock.texts.named_fields import is_at
from trafficmock.wire.payloads.serialized_har import SerializedHar

NAMES = st.sampled_from(["a", "b", "token", "0", "*"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["x", "[redacted:0a1b2c3d]"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
JSON = VALUES.map(lambda value: json.dumps(value).encode())
BODIES = (
    st.binary(max_size=20) | JSON | st.sampled_from([b"a=1&b=2", b"b=2&a=1&token=x", b"[" * 2000])
)
URLS = st.text(max_size=20) | st.sampled_from(
    [
        "http://h.test/a?a=1&b=2",
        "http://h.test/a?b=2&a=1#f",
        "https://u:p@h.test:81/a?token=[redacted:0a1b2c3d]",
        "http://h.test/a*b{c}",
        "http://[::1/",
    ]
)
KINDS = st.sampled_from(
    ["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", ""]
)
HEADERS = NAMES | st.just("content-type")
LINES = st.lists(st.tuples(HEADERS, KINDS | st.text(max_size=5)), max_size=3)
QUESTIONS = st.builds(HarQuestion, URLS, st.sampled_from(["GET", "POST", "x"]), LINES, BODIES)
STEPS = st.sampled_from(["a", "b", "*", "**", "[0]", "[*]"])
PATHS = (
    st.lists(STEPS, min_size=1, max_size=4).map(".".join).map(lambda text: text.replace(".[", "["))
)
IGNORE = st.lists(
    st.one_of(
        PATHS.map("json:{}".format),
        NAMES.map("query:{}".format),
        NAMES.map("form:{}".format),
        NAMES.map("header:{}".format),
    ),
    max_size=3,
)
MATCH_ON = st.none() | st.lists(st.sampled_from([*PARTS, "header:a"]), min_size=1, max_size=4)


def har_of(recorded: HarQuestion, **rules: Any) -> SerializedHar:
    """Make a HAR with one entry; what JSON cannot have is replaced."""
    headers = [{"name": name, "value": value} for name, value in recorded.lines]
    request = {
        "method": recorded.method,
        "url": recorded.url,
        "headers": headers,
        "postData": {"text": recorded.content.decode("latin-1")},
    }
    document = {"request": request, "response": {"status": 200, "content": {"text": "hit"}}}
    return SerializedHar("some.har", [Raw(json.dumps(document).encode())], **rules)


def rules_of(match_on: list[str] | None, ignore: list[str]) -> dict[str, Any]:
    """Give the arguments of a HAR."""
    return {"ignore": ignore} | ({} if match_on is None else {"match_on": match_on})


class AnyRuleTests(SynchronousTestCase):
    """No request and no rule does harm, and a request is like itself."""

    @profile(100)
    @given(QUESTIONS, QUESTIONS, MATCH_ON, IGNORE)
    def test_any(
        self, recorded: HarQuestion, asked: HarQuestion, match_on: Any, ignore: Any
    ) -> None:
        """It is found, or a text says why not, in one line."""
        lookup = HarLookup.of(har_of(recorded, **rules_of(match_on, ignore)))
        try:
            found = lookup.find(asked)
            again = lookup.find(asked)
            self.assertEqual(found, again)
            if found is None:
                text = REDACTOR.written(missing_entry(lookup, asked, PatternCache()))
                self.assertTrue(text.startswith("some.har has no such request. Nearest: entry 1"))
        except HarEntryError:
            pass

    @profile(100)
    @given(QUESTIONS, MATCH_ON, IGNORE)
    def test_itself(self, asked: HarQuestion, match_on: Any, ignore: Any) -> None:
        """A request that was recorded is found, by whatever rules."""
        plain = HarQuestion(
            asked.url, asked.method, asked.lines, asked.content.decode("latin-1").encode()
        )
        lookup = HarLookup.of(har_of(asked, **rules_of(match_on, ignore)))
        self.assertIsNotNone(lookup.find(plain))

    @profile(100)
    @given(VALUES, PATHS)
    def test_ignored(self, value: Any, path: str) -> None:
        """What a path of ``ignore`` takes out is what the same path of ``redact`` replaces."""
        try:
            rules = MatchRules.of(["json"], [f"json:{path}"])
        except MatchRuleError:
            return
        (steps,) = rules.ignored.paths
        self.assertEqual(rules.without_ignored(value), without(value, steps, []))

    @profile(50)
    @given(st.lists(st.text(max_size=12), max_size=3), st.lists(st.text(max_size=12), max_size=3))
    def test_words(self, match_on: list[str], ignore: list[str]) -> None:
        """Any words make rules, or are refused with a text."""
        try:
            MatchRules.of(match_on, ignore)
        except MatchRuleError as error:
            self.assertTrue(str(error))


def without(value: Any, steps: tuple[str, ...], path: list[str]) -> Any:
    """Take out each place that a path names, place by place."""
    if isinstance(value, dict):
        return {
            name: without(inner, steps, [*path, name])
            for name, inner in value.items()
            if not is_at([*path, name], steps)
        }
    if isinstance(value, list):
        return [
            without(inner, steps, [*path, str(index)])
            for index, inner in enumerate(value)
            if not is_at([*path, str(index)], steps)
        ]
    return value
