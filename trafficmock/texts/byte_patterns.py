"""Patterns in RE2, which are found in time linear in the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from attrs import define

from trafficmock.errors import LocalError

MOST_MEMORY = 32 * 1024 * 1024
"""Bytes of memory of one of our own patterns when it is compiled."""

_FIXED_MEMORY, _MEMORY_FOR_EACH = 64 * 1024, 256
"""Bytes of memory of a pattern of a user, and of each of its instructions."""

_CONTINUES, _CONTINUED = 0b1100_0000, 0b1000_0000
"""The bits that tell a byte within a character of UTF-8 from its first one, and their values."""


class InvalidPatternError(LocalError):
    """RE2 refuses a pattern; the message is RE2's."""


@define(eq=False, slots=False)
class BytePattern:
    """A pattern over the UTF-8 bytes of a text, so that lone surrogates can be compared, too.

    It is compiled when it is first needed: commands that redact nothing start faster.

    :param any_case: upper and lower case are equal.
    :param most: instructions that the compiled pattern may have; RE2 stops compiling there.
    """

    source: str
    any_case: bool = False
    most: int | None = None

    @cached_property
    def engine(self) -> Any:
        """The compiled pattern.

        :raises InvalidPatternError: RE2 refuses it.
        """
        import re2  # noqa: PLC0415 - see above

        options = re2.Options()
        most = self.most
        options.max_mem = MOST_MEMORY if most is None else _FIXED_MEMORY + _MEMORY_FOR_EACH * most
        options.encoding = re2.Options.Encoding.LATIN1
        options.log_errors = False
        options.case_sensitive = not self.any_case
        try:
            return re2.compile(self.source.encode("utf-8", "surrogatepass"), options)
        except re2.error as error:
            said = error.args[0] if error.args else ""
            text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
            raise InvalidPatternError(text) from None
        finally:
            # re2 keeps compiled patterns; those of a connection shall go with it.
            re2.purge()

    def is_in(self, text: str) -> bool:
        """Return whether the pattern matches anywhere in a text."""
        return self.engine.search(text.encode("utf-8", "surrogatepass")) is not None

    def ends(self, text: str) -> Iterator[tuple[str, int]]:
        """Find the matches: the text of the group that took part in each, and where it ends."""
        content = text.encode("utf-8", "surrogatepass")
        is_ascii = len(content) == len(text)
        read = written = 0
        for found in self.engine.finditer(content):
            end = found.end()
            if not is_ascii:
                # A match ends within a character only if its pattern does.
                written += len(_text(content[read:end]))
                read = end
            group = next((each for each in found.groups() if each), b"")
            yield _text(group), end if is_ascii else written

    def replace(self, text: str, new: Callable[[Sequence[str]], str]) -> str:
        """Replace each match, with the whole of a character of which a part matches.

        :param new: returns what comes in its place; gets the groups, or the match if it has none.
            The first one begins where the match does, the last one ends where it does.
        """
        content = text.encode("utf-8", "surrogatepass")
        parts, last = [], 0
        for found in self.engine.finditer(content):
            start, end = found.span()
            if max(start, last) < end:
                groups = [group or b"" for group in found.groups() or (found[0],)]
                first, after = max(last, _first_byte(content, start)), _next_character(content, end)
                groups[0] = content[first:start] + groups[0][max(0, first - start) :]
                groups[-1] += content[end:after]
                replaced = new([_text(group) for group in groups])
                parts += [content[last:first], replaced.encode("utf-8", "surrogatepass")]
                last = after
        if not parts:
            return text
        return _text(b"".join([*parts, content[last:]]))


def _first_byte(content: bytes, at: int) -> int:
    """Return where the character begins that has a byte of UTF-8."""
    while at > 0 and content[at] & _CONTINUES == _CONTINUED:
        at -= 1
    return at


def _next_character(content: bytes, at: int) -> int:
    """Return where the next character begins, from a byte on."""
    while at < len(content) and content[at] & _CONTINUES == _CONTINUED:
        at += 1
    return at


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")
