"""What a URL must contain so that a pattern can match it.

Ten thousand routes are only cheap when most of them are ruled out without being
tried.  Nearly every pattern has text that each matching URL must hold: whole
components between two slashes at best, parts of them otherwise.
"""

import itertools
from collections.abc import Iterable, Sequence

import attrs

from trafficmock.matching.patterns.glob_tokens import Plain, Token, Wildcard, write_out

#: Brace groups are written out up to this many combinations; beyond, they count as stars.
MAX_VARIANTS = 8
#: Components that nearly every URL has tell nothing.
COMMON_COMPONENTS = frozenset({"", "http:", "https:", "ws:", "wss:"})
#: Characters of a beginning or an ending; longer ones are as rare by their pieces, and all
#: beginnings of a URL together must not take time that grows with the square of its length.
MAX_END = 512


@attrs.frozen
class Run:
    """Literal text without a gap.

    :param text: what the URL must contain.
    :param first: the URL begins with it.
    :param last: the URL ends with it.
    """

    text: str
    first: bool = False
    last: bool = False

    @property
    def components(self) -> list[str]:
        """The pieces that must stand between two slashes, or a slash and an end, of the URL."""
        pieces = self.text.split("/")
        return pieces[None if self.first else 1 : None if self.last else -1]


@attrs.frozen
class Variant:
    """The literal text of one way to match.

    :param components: whole components of the URL, telling ones only.
    :param texts: text anywhere in the URL, the longest first.
    :param beginning: what the URL begins with, up to a slash that is left out; it names a
        host at least.
    :param ending: what the URL ends with, behind a slash.
    :param pairs: neighbouring components with the slash between them: two common words side
        by side are rare.
    :param fixed: the text before the first gap, between gaps, and behind the last; the texts
        may overlap in a URL. One text alone is all of the URL.
    """

    components: tuple[str, ...]
    texts: tuple[str, ...]
    beginning: str = ""
    ending: str = ""
    pairs: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ("", "")

    @classmethod
    def from_runs(cls, runs: Iterable[Run]) -> "Variant":
        """Gather what the runs of one way to match demand."""
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
    """What a URL must contain so that a pattern can match it.

    :param variants: the URL must satisfy at least one of them; one that demands
        nothing is satisfied by all.
    :param exact: the only URL that matches, if there is only one.
    """

    variants: tuple[Variant, ...] = (Variant((), ()),)
    exact: str | None = None
    needle: str = attrs.field(init=False)

    @needle.default
    def _longest_text(self) -> str:
        """Text that is in every matching URL; the empty text if none is known."""
        (only, *others) = self.variants
        return only.texts[0] if only.texts and not others else ""


def glob_literals(tokens: Sequence[Token]) -> Literals:
    """Collect what a URL must contain to match a glob.

    :param tokens: the glob, see :func:`trafficmock.matching.patterns.glob_tokens.tokenize`.
    """
    if len(tokens) == 1 and isinstance(only := tokens[0], str):
        return Literals((Variant((), (only,), fixed=(only,)),), exact=only)
    written_out = write_out(tokens, MAX_VARIANTS)
    if written_out is None:
        written_out = [tuple(Wildcard.ANYTHING if isinstance(t, tuple) else t for t in tokens)]
    return Literals(tuple(Variant.from_runs(_runs(plain)) for plain in written_out))


def _runs(tokens: Iterable[Plain]) -> list[Run]:
    texts = [""]
    for token in tokens:
        if isinstance(token, str):
            texts[-1] += token
        else:
            # Whatever a "**/" stands for, what follows it begins a component.
            texts.append("/" if token is Wildcard.DIRECTORIES else "")
    last = len(texts) - 1
    return [Run(t, first=n == 0, last=n == last) for n, t in enumerate(texts)]
