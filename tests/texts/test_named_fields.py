"""What users add to the secrets."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.texts.named_fields import InvalidFieldError, NamedFields, is_at, path_of


class NamedFieldsTests(SynchronousTestCase):
    """Words of options and arguments."""

    def test_words(self) -> None:
        """Each kind has its words; ``off`` is for all."""
        words = ["header:X-A", "query:b", "form:c", "json:$.d[0].e", "regex:f+"]
        found = NamedFields.of(words)
        assert found is not None
        self.assertEqual((found.headers, found.query, found.form), ({"x-a"}, {"b"}, {"c"}))
        self.assertEqual(found.paths, (("d", "0", "e"),))
        self.assertEqual(len(found.patterns), 1)
        self.assertEqual(found.words, tuple(words))
        self.assertIsNone(NamedFields.of(["off"]))
        self.assertEqual(NamedFields.of(["on"]), NamedFields())

    def test_invalid(self) -> None:
        """A word that is none of them, and one that cannot be, say so."""
        for words, said in (
            (["x-a"], "'x-a' is none of header:NAME"),
            (["header:"], "'header:' is none of"),
            (["off", "header:a"], "off goes with no other field"),
            (["json:"], "'json:' is none of"),
            (["json:$"], "the path after json: is empty"),
            (["json:a[x"], "'a[x' is no path in JSON"),
            (["regex:("], "the pattern '(' is invalid: missing ): ("),
            (["regex:a(b)"], "has a group"),
        ):
            with self.subTest(words=words):
                error = self.assertRaises(InvalidFieldError, NamedFields.of, words)
                self.assertIn(said, str(error))

    def test_too_much(self) -> None:
        """All words of a list have one budget, and a pattern beyond it is not compiled."""
        many = [f"regex:a{{500}}{number}" for number in range(60)]
        for words, said in (
            ([f"query:a{number}" for number in range(1001)], "more than 1000 fields"),
            (["header:" + "a" * 40_000], "more than 32768 characters"),
            ([f"json:a{number}" for number in range(201)], "more than 200 paths"),
            (many, "more than 20000 instructions"),
            (["regex:" + "(?:" + "x" * 60 + "){1000}"], "more than 20000 instructions"),
        ):
            with self.subTest(said=said):
                error = self.assertRaises(InvalidFieldError, NamedFields.of, words)
                self.assertIn(said, str(error))
                self.assertLess(len(str(error)), 300)
        found = NamedFields.of([*many, "later:x", "off", "query:q"], known_only=True)
        assert found is not None
        self.assertEqual(found.query, {"q"})
        self.assertTrue(10 < len(found.patterns) < 60)

    def test_paths(self) -> None:
        """A star is one name or index, two are any number of them."""
        for path, place, fits in (
            ("a.b", ["a", "b"], True),
            ("a.b", ["a", "b", "c"], False),
            ("a.b", ["x", "a", "b"], False),
            ("a[*].b", ["a", "0", "b"], True),
            ("*.b", ["b"], False),
            ("**.b", ["b"], True),
            ("**.b", ["a", "0", "b"], True),
            ("a.**.b.c", ["a", "b", "b", "c"], True),
            ("a.**", ["a", "b"], True),
            ("a.**", ["b"], False),
        ):
            with self.subTest(path=path, place=place):
                self.assertEqual(is_at(place, path_of(path)), fits)
