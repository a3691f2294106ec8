"""The literals of patterns: texts that every matching URL contains.

By its literals, most of ten thousand routes are excluded without being tried. Nearly every pattern
has them: whole components between two slashes at best, parts of components otherwise.
"""

import itertools
from collections.abc import Iterable, Sequence

import attrs

from trafficmock.matching.patterns.glob_tokens import PlainToken, Token, Wildcard, write_out

#: The most combinations of alternatives in braces that are expanded; beyond, braces count as stars.
MAX_VARIANTS = 8
#: Components that nearly every URL has, which exclude no route.
COMMON_COMPONENTS = frozenset({"", "http:", "https:", "ws:", "wss:"})
#: The most characters of a beginning or an ending. The pieces of a longer one are rare enough,
#: and the look-up of all beginnings of a URL takes time quadratic in this number.
MAX_END = 512


@attrs.frozen
class Run:
    """A literal text between two wildcards, or before the first or after the last one.

    :param text: the text, which the URL contains.
    :param first: whether the URL begins with the text.
    :param last: whether the URL ends with the text.
    """

    text: str
    first: bool = False
    last: bool = False

    @property
    def components(self) -> list[str]:
        """The texts that are whole components of the URL: between two slashes, or at an end."""
        pieces = self.text.split("/")
        return pieces[None if self.first else 1 : None if self.last else -1]


@attrs.frozen
class Variant:
    """The literals of one combination of the alternatives in braces.

    :param components: whole components of the URL, without :data:`COMMON_COMPONENTS`.
    :param texts: texts anywhere in the URL, the longest first.
    :param beginning: the beginning of the URL, up to a slash that is left out; it contains at
        least the host.
    :param ending: the end of the URL, after a slash.
    :param pairs: neighbouring components with the slash between them: a pair of common words is
        rarer than each of them.
    :param fixed: the texts before the first wildcard, between wildcards, and after the last one;
        they may overlap in a URL. A single text is the whole URL.
    """

    components: tuple[str, ...]
    texts: tuple[str, ...]
    beginning: str = ""
    ending: str = ""
    pairs: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ("", "")

    @classmethod
    def from_runs(cls, runs: Iterable[Run]) -> "Variant":
        """Collect the literals of runs, which are in the order of the glob."""
        runs = list(runs)
        fixed = _fixed(runs)
        runs = [run for run in runs if run.text]
        components = {c: None for run in runs for c in run.components}
        texts = sorted((run.text for run in runs), key=len, reverse=True)
        telling = tuple(c for c in components if c not in COMMON_COMPONENTS)
        if not runs:
            return cls(telling, tuple(texts), fixed=fixed)
        neighbours = (itertools.pairwise(run.components) for run in runs)
        pairs = tuple(f"{a}/{b}" for a, b in itertools.chain(*neighbours) if a and b)
        return cls(telling, tuple(texts), _beginning(runs[0]), _ending(runs[-1]), pairs, fixed)


def _fixed(runs: Sequence[Run]) -> tuple[str, ...]:
    texts = tuple(run.text for run in runs)
    return (*(() if runs[0].first else ("",)), *texts, *(() if runs[-1].last else ("",)))


def _beginning(run: Run) -> str:
    text, _, _ = run.text.rpartition("/")
    names_host = text.partition("//")[2]
    return text if run.first and names_host and len(text) <= MAX_END else ""


def _ending(run: Run) -> str:
    text = run.text.partition("/")[2]
    return text if run.last and len(text) <= MAX_END else ""


@attrs.frozen
class Literals:
    """The literals of a pattern.

    :param variants: alternatives: a matching URL has all texts of at least one. A variant without
        texts is satisfied by every URL.
    :param exact: the only URL that matches, if there is only one.
    """

    variants: tuple[Variant, ...] = (Variant((), ()),)
    exact: str | None = None
    needle: str = attrs.field(init=False)

    @needle.default
    def _longest_text(self) -> str:
        """Return the longest text that every matching URL contains; empty if there is none."""
        (only, *others) = self.variants
        return only.texts[0] if only.texts and not others else ""


def glob_literals(tokens: Sequence[Token]) -> Literals:
    """Collect the literals of a glob.

    :param tokens: the glob, see :func:`trafficmock.matching.patterns.glob_tokens.tokenize`.
    """
    if len(tokens) == 1 and isinstance(only := tokens[0], str):
        return Literals((Variant((), (only,), fixed=(only,)),), exact=only)
    written_out = write_out(tokens, MAX_VARIANTS)
    if written_out is None:
        written_out = [tuple(Wildcard.ANYTHING if isinstance(t, tuple) else t for t in tokens)]
    return Literals(tuple(Variant.from_runs(_runs(plain)) for plain in written_out))


def _runs(tokens: Iterable[PlainToken]) -> list[Run]:
    texts = [""]
    for token in tokens:
        if isinstance(token, str):
            texts[-1] += token
        else:
            # The text after "**/" begins a component, whatever the wildcard matches.
            texts.append("/" if token is Wildcard.DIRECTORIES else "")
    last = len(texts) - 1
    return [Run(t, first=n == 0, last=n == last) for n, t in enumerate(texts)]
