"""The languages of tests: how options are called there, and how values are shown in errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from attrs import frozen

from trafficmock.texts.unknown_words import unknown_words
from trafficmock.wire.payloads.answer_options import Foreign


class WrongOptionError(ValueError):
    """A test gives an option that is wrong; the message is for the test, in its language."""


@frozen
class Language:
    """A language of tests.

    :param spell: returns how an option is called there.
    :param quoted: shows a value of JSON.
    :param null_is_absent: whether an option with ``None`` counts as not given.
    :param duration: what a delay is.
    :param step: an example of an answer, as an object.
    """

    spell: Callable[[str], str]
    quoted: Callable[[Any], str]
    null_is_absent: bool
    duration: str
    step: str

    def shown(self, value: Any) -> str:
        """Return a value as the language writes it."""
        return value.foreign if isinstance(value, Foreign) else self.quoted(value)

    def check_known(
        self, what: str, given: Iterable[Any], known: Iterable[str], where: str = ""
    ) -> None:
        """Check words that have to be of a list.

        :param what: the list, in the plural.
        :param where: the beginning of the error.
        :raises WrongOptionError: one of them is unknown; a similar word is suggested.
        """
        wrong = unknown_words(what, given, known, quoted=self.quoted, shown=self.shown)
        if wrong:
            raise WrongOptionError(f"{where}{wrong}")


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


JAVASCRIPT = Language(
    spell=_camel,
    quoted=lambda value: json.dumps(value, ensure_ascii=False),
    null_is_absent=False,
    duration="milliseconds",
    step="{ status: 503 }",
)
"""Also that of tests whose language is not known."""

PYTHON = Language(
    spell=str,
    quoted=repr,
    null_is_absent=True,
    duration="milliseconds or a timedelta",
    step="{'status': 503}",
)


def language_of(name: object) -> Language:
    """Return the language that a worker names in ``hello``."""
    return PYTHON if name == "python" else JAVASCRIPT
