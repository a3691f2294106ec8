"""JavaScript regular expressions, judged where that is certain and cannot stall."""

import attrs

from trafficmock.matching.patterns.js_regex_syntax import PatternReader, UnsupportedRegexError
from trafficmock.matching.patterns.linear_regex import LinearPattern, PatternTooLargeError
from trafficmock.matching.patterns.match_cost import JudgedUrl, MatchBudget
from trafficmock.matching.patterns.match_result import MatchResult
from trafficmock.matching.patterns.url_literals import Literals, Run, Variant

#: Those under which the common subset means what it says.
SUPPORTED_FLAGS = frozenset("dgimsy")


@attrs.frozen(eq=False)
class Regex:
    """A regular expression in the common subset of JavaScript and RE2.

    :param literals: what a URL must contain to match.
    """

    pattern: LinearPattern
    literals: Literals

    def judge(self, subject: JudgedUrl, budget: MatchBudget) -> MatchResult:
        """Search a URL, in time linear in its length.

        :param subject: the URL; runtimes serialise them in printable ASCII, and only
            there Unicode and newlines cannot make a difference.
        :param budget: what that may cost.
        """
        if self.literals.needle not in subject.url:
            return MatchResult.NO
        return budget.search(self.pattern, subject) if subject.plain else MatchResult.UNDECIDABLE


def flags_are_impossible(flags: str) -> bool:
    """Tell whether no JavaScript engine accepts the flags, so that nothing can match.

    Unknown letters are possible: a later JavaScript may know them.
    """
    return len(set(flags)) < len(flags) or {"u", "v"} <= set(flags)


def compile_regex(source: str, flags: str) -> Regex:
    """Read a regular expression as JavaScript does.

    :param source: the text between the slashes.
    :param flags: the letters after them.
    :raises UnsupportedRegexError: it is outside the common subset, too large, or no
        regular expression at all; only its own runtime can judge it.
    """
    if not SUPPORTED_FLAGS.issuperset(flags):
        raise UnsupportedRegexError(f"flags {flags!r}")
    reader = PatternReader(source, ignore_case="i" in flags)
    translated = reader.read()
    if "y" in flags:
        translated = rb"\A" + translated
    try:
        pattern = LinearPattern(translated)
        pattern.compile()  # Repetitions may be too many, which only compiling tells.
    except PatternTooLargeError as error:
        raise UnsupportedRegexError(str(error)) from error
    longest = max(reader.texts, key=len, default="")
    return Regex(pattern, Literals((Variant.from_runs([Run(longest)]),)))
