"""``trafficmock env``: variables for a shell, a dotenv file, or as JSON."""

import json
import shlex

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.command import env
from trafficmock.command.exit_status import CommandError


class FormatTests(SynchronousTestCase):
    """``trafficmock env``."""

    @given(st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF), min_size=1))
    def test_shell(self, value: str) -> None:
        """A shell that reads the text has exactly the values."""
        line = env.formatted({"NAME": value}, "shell")
        words = shlex.split(line)
        self.assertEqual(words, ["export", f"NAME={value}"])

    def test_json_and_dotenv(self) -> None:
        """JSON is an object, dotenv one quoted line each."""
        variables = {"A": 'x "y"', "B": "it's"}
        self.assertEqual(json.loads(env.formatted(variables, "json")), variables)
        self.assertEqual(env.formatted(variables, "dotenv"), "A='x \"y\"'\nB=`it's`\n")

    def test_unknown_format(self) -> None:
        """An unknown format is refused with the known ones."""
        error = self.assertRaises(CommandError, env.main, ["--format", "xml"])
        self.assertRegex(str(error), r"--format.*'xml'.*shell.*dotenv.*json")
