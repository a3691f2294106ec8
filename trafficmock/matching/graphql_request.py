"""The operations of a GraphQL request.

The proxy has no schema, and does not execute a document: it looks for the names of its operations,
by the lexer of graphql-core.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import msgspec

LONGEST_DOCUMENTS = 128 * 2**10
"""The most characters of the documents of a request in which names of operations are looked for."""

MOST_OPERATIONS = 1000
"""The most operations of a batch."""

_KEYWORDS = frozenset({"query", "mutation", "subscription"})
_BOUNDARY = re.compile(r'boundary=(?:"([^"]+)"|([^\s;"]+))', re.IGNORECASE)
_NAMED_OPERATIONS = re.compile(rb';\s*name="?operations"?\s*(?:;|\r\n|$)', re.IGNORECASE)


class GraphqlRequestError(ValueError):
    """The operation of a request cannot be told; the message is why."""


class GraphqlOperation:
    """An operation that a request asks for.

    :param members: those that "GraphQL over HTTP" names (``query``, ``operationName``,
        ``variables``), and others.
    """

    def __init__(self, members: Mapping[str, Any]) -> None:
        self._members = members

    @cached_property
    def variables(self) -> Any:
        """The variables; query strings and forms have them as a text of JSON."""
        found = self._members.get("variables")
        if not isinstance(found, str):
            return found
        try:
            return msgspec.json.decode(found)
        except (msgspec.MsgspecError, RecursionError):
            return None

    @property
    def document(self) -> str:
        """The document, if the name of the operation stands there alone; else empty text."""
        named, document = self._members.get("operationName"), self._members.get("query")
        return document if isinstance(document, str) and not _is_name(named) else ""

    @cached_property
    def name(self) -> str | None:
        """The ``operationName``, else the name in the document; ``None`` without one.

        :raises GraphqlRequestError: the document has several operations, none of which a server
            would execute (GraphQL, section 6.1).
        """
        named = self._members.get("operationName")
        if _is_name(named):
            return str(named)
        names = [*operation_names(self.document)] if self.document else []
        if len(names) > 1:
            raise GraphqlRequestError("the document has several operations and no operationName")
        return names[0] if names else None


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def operation_names(document: str) -> Iterator[str | None]:
    """Yield the name of each operation of a document, ``None`` for one without.

    What follows a character that GraphQL does not know is not read: servers have extensions of
    the grammar within the operations.
    """
    # The package takes 0.1 s to load, and most services see no GraphQL.
    from graphql.error import GraphQLSyntaxError  # noqa: PLC0415 - see above
    from graphql.language import Lexer, Source, TokenKind  # noqa: PLC0415 - see above

    lexer = Lexer(Source(document))
    depth, begins, awaits_name = 0, True, False
    try:
        while (token := lexer.advance()).kind is not TokenKind.EOF:
            if awaits_name:
                yield token.value if token.kind is TokenKind.NAME else None
                awaits_name = False
            if token.kind in (TokenKind.BRACE_L, TokenKind.PAREN_L, TokenKind.BRACKET_L):
                if begins:
                    yield None  # a selection set alone is a query
                depth, begins = depth + 1, False
            elif token.kind in (TokenKind.BRACE_R, TokenKind.PAREN_R, TokenKind.BRACKET_R):
                depth -= 1
                # Braces within the arguments of an operation are deeper.
                begins = depth == 0 and token.kind is TokenKind.BRACE_R
            elif begins and token.kind is TokenKind.NAME:
                begins, awaits_name = False, token.value in _KEYWORDS
    except GraphQLSyntaxError:
        return


def operations_part(content_type: str, content: bytes) -> bytes:
    """Return the part ``operations`` of an upload (the GraphQL multipart request specification).

    :raises GraphqlRequestError: there is none.
    """
    found = _BOUNDARY.search(content_type)
    delimiter = b"--" + (found[1] or found[2]).encode("latin-1", "replace") if found else None
    for part in content.split(delimiter)[1:] if delimiter else ():
        head, _, value = part.partition(b"\r\n\r\n")
        if _NAMED_OPERATIONS.search(head):
            return value.removesuffix(b"\r\n")
    raise GraphqlRequestError('the multipart body has no part "operations"')
