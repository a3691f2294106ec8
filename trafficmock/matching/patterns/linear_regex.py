"""Regular expressions that take time linear in the subject, whatever they say.

A pattern from outside must never stall the reactor, and Python's own engine
backtracks.  RE2 does not; it reads bytes here, so that also text that is not
well-formed Unicode can be judged.
"""

import functools
from typing import Any, cast

import attrs
import re2

from trafficmock.errors import LocalError

#: The longest source and the largest program that may cost every request its time,
#: in bytes and in instructions.  Ordinary globs and regexes stay below a hundred.
MAX_SOURCE = 8_192
MAX_PROGRAM = 10_000

#: Bytes that a compiled pattern may take: what it needs in any case, and what each of its
#: instructions adds. RE2 keeps the states of its automaton within them, and does without
#: the automaton where they are too few.
FIXED_MEMORY = 64 * 1024
MEMORY_FOR_EACH = 256


class PatternTooLargeError(LocalError):
    """The pattern would cost too much memory or time to be judged for every request."""


def _options(memory: int) -> re2.Options:
    options = re2.Options()
    options.max_mem = memory
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_capture = True
    return options


def as_subject(text: str) -> bytes:
    """Turn text into the bytes in which patterns and subjects meet.

    :param text: any text, lone surrogates included.
    """
    return text.encode("utf-8", "surrogatepass")


def byte_escape(text: str) -> bytes:
    """Quote literal text for the use inside a pattern.

    :param text: any text, lone surrogates included.
    """
    return cast("bytes", re2.escape(as_subject(text)))


@attrs.define(eq=False)
class LinearPattern:
    """A pattern over bytes, compiled when it is first needed.

    Most registered routes never come close to a request, and a compiled pattern
    costs far more time and memory than its source.

    :param source: the pattern in RE2 syntax, byte by byte, without capturing groups.
    """

    source: bytes = attrs.field()
    #: Instructions of its program; before it was compiled what its length says, which is
    #: more unless something is repeated by numbers.
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
        """Bytes that it may take when it is compiled."""
        return FIXED_MEMORY + MEMORY_FOR_EACH * self.size

    def compile(self) -> Any:
        """Make the compiled pattern, of which the caller is the only owner.

        :raises PatternTooLargeError: the pattern repeats itself too often; the
            length alone never causes it.
        """
        try:
            engine = re2.compile(self.source, _options(self.memory))
        except re2.error:
            engine = self._compile_largest()
        finally:
            # The package keeps what it compiled, beyond our bounds.
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
        """The compiled pattern, kept; see :meth:`compile`."""
        return self.compile()

    def search(self, subject: bytes) -> bool:
        """Tell whether the pattern matches anywhere.

        :param subject: see :func:`as_subject`.
        """
        return self.engine.search(subject) is not None

    def fullmatch(self, subject: bytes) -> bool:
        """Tell whether the pattern matches all of the subject; see :meth:`search`."""
        return self.engine.fullmatch(subject) is not None
