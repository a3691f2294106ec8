"""The output of an application that several processes read."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.testing.launch.output_files import PIECE_BYTES, OutputFiles, OutputWriter


class OutputFilesTests(SynchronousTestCase):
    """A writer and a reader."""

    def setUp(self) -> None:
        prefix = Path(self.mktemp()).absolute() / "app-1"
        prefix.parent.mkdir()
        self.prefix = prefix
        self.writer, self.reader = OutputWriter(prefix), OutputFiles(prefix)

    def test_marks(self) -> None:
        """What comes after the mark is told, from the next file, too."""
        self.writer.write(b"first")
        self.assertEqual(self.reader.since_mark(), "first")
        self.reader.mark()
        self.assertEqual((self.reader.since_mark(), self.reader.text()), ("", "first"))
        more = b"m" * PIECE_BYTES
        self.writer.write(more)
        self.writer.write(b"last")
        self.assertEqual(self.reader.since_mark(), f"{more.decode()}last")

    def test_bounded(self) -> None:
        """The newest two files are kept, and the mark still holds."""
        self.writer.write(b"a" * PIECE_BYTES * 3)
        self.reader.mark()
        self.writer.write(b"b" * PIECE_BYTES + b"end")
        self.assertEqual(len(list(self.prefix.parent.iterdir())), 2)
        self.assertEqual(self.reader.since_mark(), "b" * PIECE_BYTES + "end")

    def test_nothing(self) -> None:
        """A mark before anything was written is the beginning."""
        other = OutputFiles(self.prefix.with_name("app-2"))
        other.mark()
        self.assertEqual((other.text(), other.since_mark()), ("", ""))
