"""The reader of pages that other tests rely on."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.documents import Block, blocks, shows

PAGE = """\
Words.

```sh
one
```

**a file**

```python
two

three
```

<!-- file begin: written.py -->

```python
written
```

<!-- file end -->
"""


class BlockTests(SynchronousTestCase):
    """Fenced blocks."""

    def test_captions(self) -> None:
        """Fences are read with the bold line above them, but for those that are written."""
        page = Path(self.mktemp())
        page.write_text(PAGE)
        expected = [Block("sh", "", "one\n"), Block("python", "a file", "two\n\nthree\n")]
        self.assertEqual(blocks(page), expected)


class SampleTests(SynchronousTestCase):
    """Samples of output."""

    def test_same_but_for_numbers(self) -> None:
        """Ids, numbers and blanks may differ; words, order and missing lines may not."""
        output = "head\n0123456789abcdef  7 ms   GET\ntail\n"
        self.assertTrue(shows(output, "fedcba9876543210  123 ms  GET\n"))
        self.assertTrue(shows(output, "head\ntail\n"))
        self.assertTrue(shows(output, "…cdef  7 ms  G…\n"))
        self.assertTrue(shows("EAI_AGAIN\n", "ENOTFOUND\n"))
        self.assertTrue(shows("took 5.1 s\n", "took 14 ms\n"))
        for sample in (
            "… POST\n",
            "tail\nhead\n",
            "fedcba9876543210  123 ms  PUT\n",
            "7 ms\n",
            "none\n",
        ):
            self.assertFalse(shows(output, sample), sample)
