"""The options of answers in the APIs of tests."""

from twisted.trial.unittest import SynchronousTestCase

from tools import answer_arguments


class AnswerArgumentsTests(SynchronousTestCase):
    """Written from the one declaration of the options."""

    def test_up_to_date(self) -> None:
        """The files are as it says; ``python -m tools.answer_arguments`` writes them anew."""
        for path in answer_arguments.FILES:
            self.assertEqual(path.read_text(encoding="utf-8"), answer_arguments.written(path), path)
