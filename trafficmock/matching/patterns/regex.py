"""Regular expressions of JavaScript, matched by RE2 where the result is certain."""

import attrs

from trafficmock.matching.patterns.js_regex_syntax import PatternReader, UnsupportedRegexError
from trafficmock.matching.patterns.linear_regex import LinearPattern, PatternTooLargeError
from trafficmock.matching.patterns.match_cost import JudgedUrl, MatchBudget
from trafficmock.matching.patterns.match_result import NO, UNDECIDABLE, MatchResult
from trafficmock.matching.patterns.unix_sockets import is_unix_socket
from trafficmock.matching.patterns.url_literals import Literals, Run, Variant

#: The flags with which the common subset has the same meaning.
SUPPORTED_FLAGS = frozenset("dgimsy")


@attrs.frozen(eq=False)
class Regex:
    """A compiled regular expression in the common subset of JavaScript and RE2.

    :param literals: the texts that a matching URL contains.
    """

    pattern: LinearPattern
    literals: Literals

    def judge(self, subject: JudgedUrl, budget: MatchBudget) -> MatchResult:
        """Search a URL for the regular expression, in time linear in its length.

        A URL that is not printable ASCII is undecidable, since JavaScript and RE2 differ about
        Unicode and newlines. Applications' URLs are printable ASCII.

        :param subject: a whole URL.
        :param budget: bounds the steps.
        """
        if self.literals.needle not in subject.url:
            return NO
        return budget.search(self.pattern, subject) if subject.plain else UNDECIDABLE


def flags_are_impossible(flags: str) -> bool:
    """Return whether every JavaScript engine refuses the flags; then no URL matches.

    Unknown letters do not count: a later JavaScript may have them.
    """
    return len(set(flags)) < len(flags) or {"u", "v"} <= set(flags)


def compile_regex(source: str, flags: str) -> Regex:
    """Compile a regular expression of JavaScript.

    :param source: the text between the slashes.
    :param flags: the letters after them.
    :raises UnsupportedRegexError: for a regular expression that is invalid, too large or not in
        the common subset; then only the worker can match it.
    """
    if not SUPPORTED_FLAGS.issuperset(flags):
        raise UnsupportedRegexError(f"flags {flags!r}")
    reader = PatternReader(source, ignore_case="i" in flags)
    translated = reader.read()
    if "y" in flags:
        translated = rb"\A" + translated
    try:
        pattern = LinearPattern(translated)
        pattern.compile()  # Only compilation finds too many counted repetitions.
    except PatternTooLargeError as error:
        raise UnsupportedRegexError(str(error)) from error
    longest = Run(max(reader.texts, key=len, default=""))
    if source.startswith("^") and is_unix_socket(first := "".join(reader.texts[1:2])):
        longest = Run(first, first=True)
    return Regex(pattern, Literals((Variant.from_runs([longest]),)))
