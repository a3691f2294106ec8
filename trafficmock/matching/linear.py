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


class PatternTooLargeError(LocalError):
    """The pattern would cost too much memory or time to be judged for every request."""


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_capture = True
    return options


OPTIONS = _options()


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

    @source.validator
    def _bounded(self, _: object, source: bytes) -> None:
        if len(source) > MAX_SOURCE:
            raise PatternTooLargeError(
                f"the pattern is too long: {len(source)} bytes, at most {MAX_SOURCE} are allowed"
            )

    @functools.cached_property
    def engine(self) -> Any:
        """The compiled pattern.

        :raises PatternTooLargeError: the pattern repeats itself too often; the
            length alone never causes it.
        """
        try:
            engine = re2.compile(self.source, OPTIONS)
        except re2.error as error:
            raise PatternTooLargeError(f"RE2 refuses the pattern: {error}") from error
        if engine.programsize > MAX_PROGRAM:
            raise PatternTooLargeError(f"the pattern needs {engine.programsize} instructions")
        return engine

    def search(self, subject: bytes) -> bool:
        """Tell whether the pattern matches anywhere.

        :param subject: see :func:`as_subject`.
        """
        return self.engine.search(subject) is not None

    def fullmatch(self, subject: bytes) -> bool:
        """Tell whether the pattern matches all of the subject; see :meth:`search`."""
        return self.engine.fullmatch(subject) is not None
