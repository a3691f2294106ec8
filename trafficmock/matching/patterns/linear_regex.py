"""RE2 patterns, which take time linear in the length of the subject.

A pattern of a test must not block the reactor. :mod:`re` backtracks, which can take exponential
time; RE2 does not. Patterns and subjects are bytes here, so that texts with lone surrogates can be
compared too.
"""

import functools
from typing import Any, cast

import attrs
import re2

from trafficmock.errors import LocalError

#: The longest source in bytes, and the largest program in instructions, since a pattern may be
#: tried for every request. Usual globs and regular expressions stay below a hundred.
MAX_SOURCE = 8_192
MAX_PROGRAM = 10_000

#: Bytes of memory of a compiled pattern: a fixed part, and one for each instruction. RE2 keeps
#: the states of its DFA within this memory, and uses its slower NFA if it is too small.
FIXED_MEMORY = 64 * 1024
MEMORY_FOR_EACH = 256


class PatternTooLargeError(LocalError):
    """The pattern needs too much memory or time to be tried for every request."""


def _options(memory: int) -> re2.Options:
    options = re2.Options()
    options.max_mem = memory
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_capture = True
    return options


def as_subject(text: str) -> bytes:
    """Encode a text to the bytes that patterns are matched with.

    :param text: any text, also with lone surrogates.
    """
    return text.encode("utf-8", "surrogatepass")


def byte_escape(text: str) -> bytes:
    """Escape a literal text for use in a pattern.

    :param text: any text, also with lone surrogates.
    """
    return cast("bytes", re2.escape(as_subject(text)))


@attrs.define(eq=False)
class LinearPattern:
    """A pattern over bytes, compiled when it is first needed.

    Most routes are never candidates for a request, and a compiled pattern needs much more memory
    than its source.

    :param source: the pattern in RE2 syntax for bytes (Latin-1), without capturing groups.
    """

    source: bytes = attrs.field()
    #: Instructions of the compiled program; before that the length of the source, which is larger
    #: unless the pattern has counted repetitions.
    size: int = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.size = max(1, len(self.source))

    @source.validator
    def _bounded(self, _: object, source: bytes) -> None:
        if len(source) > MAX_SOURCE:
            raise PatternTooLargeError(
                f"the pattern is too long: {len(source)} bytes, at most {MAX_SOURCE} are allowed"
            )

    @property
    def memory(self) -> int:
        """The most bytes of memory of the compiled pattern."""
        return FIXED_MEMORY + MEMORY_FOR_EACH * self.size

    def compile(self) -> Any:
        """Compile the pattern; only the caller keeps the result.

        :raises PatternTooLargeError: for a program of more than :data:`MAX_PROGRAM` instructions,
            which only counted repetitions cause.
        """
        try:
            engine = re2.compile(self.source, _options(self.memory))
        except re2.error:
            engine = self._compile_largest()
        finally:
            # re2 caches compiled patterns, which the bounds of this package do not count.
            re2.purge()
        if engine.programsize > MAX_PROGRAM:
            raise PatternTooLargeError(f"the pattern needs {engine.programsize} instructions")
        self.size = engine.programsize
        return engine

    def _compile_largest(self) -> Any:
        try:
            return re2.compile(self.source, _options(FIXED_MEMORY + MEMORY_FOR_EACH * MAX_PROGRAM))
        except re2.error as error:
            raise PatternTooLargeError(f"RE2 refuses the pattern: {error}") from error

    @functools.cached_property
    def engine(self) -> Any:
        """The compiled pattern, which this object keeps; see :meth:`compile`."""
        return self.compile()

    def search(self, subject: bytes) -> bool:
        """Return whether the pattern matches anywhere in the subject.

        :param subject: see :func:`as_subject`.
        """
        return self.engine.search(subject) is not None

    def fullmatch(self, subject: bytes) -> bool:
        """Return whether the pattern matches the whole subject; see :meth:`search`."""
        return self.engine.fullmatch(subject) is not None
