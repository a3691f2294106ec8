"""Replaces the secrets in header lines, URLs, bodies, texts and frames by marks."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from secrets import token_bytes
from typing import Any
from urllib.parse import unquote_plus

from attrs import field, frozen

from trafficmock.redaction import body_codings, key_forms, marks, secret_names
from trafficmock.redaction.form_secrets import (
    boundary_of,
    marked_boundary,
    redacted_pairs,
    redacted_parts,
)
from trafficmock.redaction.json_secrets import JsonText
from trafficmock.redaction.places.markup_secrets import MarkupSecrets
from trafficmock.redaction.places.named_values import NamedValues
from trafficmock.redaction.places.text_lines import redacted_events, redacted_lines
from trafficmock.redaction.secret_names import is_secret
from trafficmock.texts.byte_patterns import BytePattern
from trafficmock.texts.named_fields import OFF, NamedFields, is_at
from trafficmock.texts.wording import Quote, Valued, Wording, parts_of

_URL = BytePattern(secret_names.URL)
_PRIVATE_KEY = BytePattern(key_forms.PRIVATE_KEY)
_BEARER = BytePattern(key_forms.BEARER, any_case=True)
_BASIC = BytePattern(key_forms.BASIC, any_case=True)
_KNOWN = BytePattern(key_forms.KNOWN)
_WEBHOOKS = BytePattern(key_forms.WEBHOOKS)
_COOKIES = BytePattern(secret_names.COOKIES, any_case=True)
_NAME_HINT = BytePattern(secret_names.HINT, any_case=True)
_HINT = BytePattern(f"{secret_names.HINT}|{key_forms.HINT}", any_case=True)
_NOT_BEARER = re.compile(key_forms.NOT_BEARER)
_SCHEME = re.compile(rf"\s*{secret_names.SCHEMES}\s+", re.IGNORECASE)
_COOKIE = re.compile(r"([^=;]*=\s*)([^;]*)")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9_-]{16,}={0,2}")
_LIKE_FORM = re.compile(r"[^\s=&<>{}\"'?/:]+=[^\s&]*(?:&[^\s=&<>{}\"']*(?:=[^\s&]*)?)*\s*")
_NEXT_COOKIE = re.compile(r",[ \t]*(?=[^\s;,=]+=)")
_BINARY = ("image/", "audio/", "video/", "font/")
_LINKS = frozenset({"location", "content-location", "referer", "origin"})
_COOKIE_HEADERS = frozenset({"cookie", "cookie2", "set-cookie", "set-cookie2"})
_SHORTEST_KEY = 16
"""The least characters of a key that is known by its form, or of base64 that is looked into."""
MOST_NESTED = 5
"""How often a text is read within a text: JSON in a value of JSON, for example."""


def random_key() -> bytes:
    """Return a key for marks."""
    return token_bytes(16)


@frozen
class Redactor:
    """Replaces secrets by marks; equal secrets have equal marks.

    What has marks already keeps them, so a text may be redacted twice.

    :param added: the fields that are secret besides those of known names; ``None`` replaces
        nothing.
    :param key: makes the marks; by default a random one.
    """

    added: NamedFields | None = field(factory=NamedFields)
    key: bytes = field(factory=random_key, repr=False)

    @classmethod
    def of(cls, words: Iterable[str] | str | None, key: bytes | None = None) -> Redactor:
        """Make one of what a user wrote, such as ``["header:x-customer"]`` or ``"off"``.

        :param words: one word, or several; ``None`` for the known names alone.
        :raises InvalidFieldError: a word is invalid.
        """
        given = [words] if isinstance(words, str) else list(words or ())
        return cls(NamedFields.of(given), key or random_key())

    @classmethod
    def described_by(cls, description: Mapping[str, Any]) -> Redactor:
        """Make one with the fields and the key of another, which :meth:`described` returned."""
        return cls.of(description.get("fields"), bytes.fromhex(description.get("key", "")) or None)

    def described(self) -> dict[str, Any]:
        """Return the fields and the key, for another process that shall make equal marks."""
        fields = [OFF] if self.added is None else list(self.added.words)
        return {"fields": fields, "key": self.key.hex()}

    def adding(self, words: Iterable[str], *, known_only: bool = False) -> Redactor:
        """Return one with further fields, or one that is off; the marks are the same.

        :param known_only: leave out words that are no fields, and what is too much.
        :raises InvalidFieldError: a word is invalid, or all are too much.
        """
        given = list(words)
        if not given:
            return self
        before = () if self.added is None or OFF in given else self.added.words
        known_only = known_only and given != [OFF]
        return Redactor(NamedFields.of([*before, *given], known_only=known_only), self.key)

    @property
    def is_off(self) -> bool:
        """Whether nothing is replaced."""
        return self.added is None

    def mark(self, secret: str) -> str:
        """Return the mark of a secret; a mark and nothing stay what they are."""
        return secret if self.added is None else marks.mark(secret, self.key)

    def header(self, name: str, value: str) -> str:
        """Return the value of a header line.

        Schemes before credentials, and the names and attributes of cookies, are kept.
        """
        if self.added is None:
            return value
        low = name.lower()
        if low in self.added.headers:
            return self.mark(value)
        if low in _COOKIE_HEADERS:
            # An agent without lists of headers joins several set-cookie by line feeds or commas.
            each_line = self._cookies if low.startswith("cookie") else self._set_cookies
            return "\n".join(each_line(line) for line in value.split("\n"))
        if low == "sec-websocket-protocol":
            return ", ".join(self.protocols(value.split(", ")))
        if is_secret(name) and value.lower() not in ("true", "false"):
            return self._credentials(value)
        return self.url(value) if low in _LINKS else self.text(value)

    def headers(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return header lines with marks for their secrets."""
        return [(name, self.header(name, value)) for name, value in pairs]

    def url(self, url: str) -> str:
        """Return a URL, also a relative one, with marks in its user information, query, and so on.

        :param url: any text, since it may be an invalid URL.
        """
        if self.added is None:
            return url
        return self._url(url, MOST_NESTED)

    def _url(self, url: str, nested: int) -> str:
        before, hash_sign, fragment = url.partition("#")
        before, mark, query = before.partition("?")
        scheme, slashes, rest = before.partition("//")
        if slashes:
            authority, slash, path = rest.partition("/")
            before = f"{scheme}//{self._authority(authority)}{self._path(slash + path)}"
        else:
            before = self._path(before)
        ends = self._query(query, nested), self._fragment(fragment, nested)
        return f"{before}{mark}{ends[0]}{hash_sign}{ends[1]}"

    def text(self, text: str) -> str:
        """Return a text with marks for its secrets: keys of known forms, ``name=value``, URLs.

        JSON may stand anywhere in it, as in the output of a program.
        """
        if self.added is None:
            return text
        return self._text(text, MOST_NESTED)

    def body(
        self, content: bytes, content_type: str | None = None, content_encoding: str | None = None
    ) -> bytes:
        """Return a body with marks for its secrets; a coded one is coded again.

        One that is in an unknown coding, or damaged, is replaced as a whole.

        :param content: the whole body, or its beginning.
        :param content_type: the value of the header.
        :param content_encoding: the value of the header.
        """
        if self.added is None or not content or _is_binary(content_type):
            return content
        said = body_codings.codings_of(content_encoding)
        codings = said or body_codings.codings_by_magic(content)
        if body_codings.is_coded(content, codings):
            try:
                decoded = body_codings.decode(content, codings)
            except body_codings.UnreadableError:
                # Without the header it may be any file.
                return self.mark(content[:1024].hex()).encode() if said else content
            if decoded is not None:
                new = self._plain(decoded, content_type or "", MOST_NESTED)
                return content if new == decoded else body_codings.encode(new, codings)
        return self._plain(content, content_type or "", MOST_NESTED)

    def written(self, text: str) -> str:
        """Return a text of the core with what it quotes, and marks for the secrets in that."""
        return "".join(map(self._part, parts_of(text))) if isinstance(text, Wording) else text

    def _part(self, part: str | Quote | Valued) -> str:
        match part:
            case Valued():
                is_secret = self.is_secret_at(part.part, part.path)
                return self.written(part.otherwise if is_secret else part.value)
            case Quote(how="url"):
                return part.cut(self.url(part.value))
            case Quote(how="text"):
                return part.cut(self.text(self.written(part.value)))
            case Quote():
                return part.cut(self.written(part.value))
        return part

    def frame(self, content: bytes) -> bytes:
        """Return the content of a WebSocket frame, or a piece of a stream."""
        return self.body(content)

    def frame_text(self, content: str) -> str:
        """Return the text of a WebSocket frame, or of a piece of a stream."""
        return content if self.added is None else self._content(content, "", MOST_NESTED)

    def protocols(self, names: Sequence[str]) -> list[str]:
        """Return the subprotocols of a WebSocket, which have credentials after their scheme."""
        if self.added is None:
            return list(names)
        shown, is_next = [], False
        for name in names:
            plain = name.strip()
            new = self.mark(plain) if is_next else self.text(plain)
            bearer, dot, token = plain.rpartition(".")
            if not is_next and dot and is_secret(bearer):
                new = f"{bearer}.{self.mark(token)}"
            is_next = not is_next and is_secret(plain)
            shown.append(name.replace(plain, new) if plain else name)
        return shown

    def cookie(self, value: str) -> str:
        """Return the value of a cookie."""
        return value if self.added is None else self._cookie(value)

    def parameter(self, name: str, value: str) -> str:
        """Return the value of a parameter of a query, decoded."""
        is_secret = self._is_secret_parameter(name) and not secret_names.is_count(name, value)
        return self.mark(value) if is_secret else self.text(value)

    def field(self, name: str, value: str) -> str:
        """Return the value of a field of a form, decoded."""
        is_secret = self._is_secret_field(name) and not secret_names.is_count(name, value)
        return self.mark(value) if is_secret else self.text(value)

    def is_secret_at(self, part: str, path: Sequence[str | int]) -> bool:
        """Return whether a value of a request is secret because of its name.

        :param part: ``header``, ``query``, ``form``, or another for JSON.
        :param path: the names and indices that lead to it in the part.
        """
        if self.added is None or not path:
            return False
        names = ["variables", *map(str, path)] if part == "variables" else list(map(str, path))
        if part == "header":
            return is_secret(names[0]) or names[0].lower() in self.added.headers
        if part in ("query", "form"):
            judge = self._is_secret_parameter if part == "query" else self._is_secret_field
            return any(judge(name) for name in names)
        return any(map(is_secret, names)) or any(is_at(names, each) for each in self.added.paths)

    def _plain(self, content: bytes, content_type: str, nested: int) -> bytes:
        try:
            text = content.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
        else:
            return self._content(text, content_type, nested).encode("utf-8", "surrogatepass")
        if "\0" in text and not content_type.lower().startswith("multipart/"):
            new = self._forms_of_keys(text)
        else:
            new = self._content(text, content_type, nested)
        return new.encode("latin-1", "backslashreplace")

    def _content(self, text: str, content_type: str, nested: int) -> str:
        """Return a text of a content type."""
        kind = content_type.partition(";")[0].strip().lower()
        if kind == "application/x-www-form-urlencoded":
            return self._form(text)
        # The content type may be missing or wrong, and a change of a test may be a body alone.
        boundary = boundary_of(content_type) if kind.startswith("multipart/") else None
        boundary = boundary or marked_boundary(text)
        is_open = kind in ("", "application/octet-stream") or "&" in text
        if (
            is_open
            and "=" in text
            and _LIKE_FORM.fullmatch(text)
            and not _BASE64.fullmatch(text.strip())
        ):
            text = self._form(text)
        if boundary and nested:
            return redacted_parts(
                text,
                boundary,
                is_secret=self._is_secret_field,
                mark=self.mark,
                head_of=self._part_head,
                body_of=lambda part, of: self._content(part, of, nested - 1),
            )
        return self._text(text, nested)

    def _text(self, text: str, nested: int) -> str:
        if len(text) < _SHORTEST_KEY and (text.isalnum() or not text):
            # Most names and values are so, and the added patterns are the only ones to fit.
            return self._added_patterns(text)
        if nested and ("{" in text or "[" in text):
            reader = self._json(nested)
            text = reader.redacted(text)
            if reader.is_whole:
                return self._added_patterns(text)
        if nested and "data:" in text:
            text = redacted_events(text, lambda data: self._text(data, nested - 1))
        # Most texts are values of JSON, and each pattern takes microseconds for the shortest.
        may_have_any = _HINT.is_in(text)
        has_name = may_have_any and _NAME_HINT.is_in(text)
        if has_name:
            text = _COOKIES.replace(text, self._cookie_line)
        if nested and ":" in text and "/" in text:
            text = _URL.replace(text, lambda groups: self._url_within(groups[0], nested))
        if has_name:
            text = self._named(text)
        if may_have_any:
            text = self._forms_of_keys(text)
        return self._added_patterns(self._base64(text, nested) if nested else text)

    def _named(self, text: str) -> str:
        """Replace the values that stand beside the name of a secret."""
        text = redacted_lines(text, self.mark)
        if "<" in text:
            text = MarkupSecrets(self.mark).redacted(text)
        return NamedValues(self.mark).redacted(text)

    def _cookie_line(self, groups: Sequence[str]) -> str:
        name, between, line = groups
        return f"{name}{between}{self._cookies(line)}"

    def _url_within(self, found: str, nested: int) -> str:
        url = found.rstrip(".,:;)")
        return f"{self._url(url, nested - 1)}{found[len(url) :]}"

    def _json(self, nested: int) -> JsonText:
        paths = () if self.added is None else self.added.paths
        return JsonText(self.mark, lambda text: self._text(text, nested - 1), paths)

    def _forms_of_keys(self, text: str) -> str:
        """Replace what is known to be a key by its form."""
        text = _PRIVATE_KEY.replace(text, lambda key: f"{key[0]}{self.mark(key[1].strip())}")
        text = _BEARER.replace(text, self._bearer)
        text = _BASIC.replace(text, self._basic)
        text = _WEBHOOKS.replace(text, lambda path: f"{path[0]}{self.mark(path[1])}")
        return _KNOWN.replace(text, lambda key: f"{key[0]}{self.mark(key[1])}")

    def _bearer(self, groups: Sequence[str]) -> str:
        word, space, token = groups
        return f"{word}{space}{token if _NOT_BEARER.match(token) else self.mark(token)}"

    def _basic(self, groups: Sequence[str]) -> str:
        word, space, token = groups
        is_pair = ":" in (_decoded(token) or "")
        return f"{word}{space}{self.mark(token) if is_pair else token}"

    def _added_patterns(self, text: str) -> str:
        if self.added is None:
            return text
        for line in self.added.lines:
            text = line.replace(text, self._added_line)
        for pattern in self.added.patterns:
            text = pattern.replace(text, lambda groups: self.mark(groups[0]))
        return text

    def _added_line(self, groups: Sequence[str]) -> str:
        before, name, value = groups
        plain = unquote_plus(value) if name.endswith("=") else value
        return f"{before}{name}{self.mark(plain)}"

    def _base64(self, text: str, nested: int) -> str:
        """Look into a text that is base64 as a whole."""
        if not _BASE64.fullmatch(text):
            return text
        plain = _decoded(text)
        if plain is None:
            return text
        new = self._text(plain, nested - 1)
        if new == plain:
            return text
        encoded = base64.b64encode(new.encode("utf-8", "backslashreplace")).decode()
        return encoded if "=" in text or len(text) % 4 == 0 else encoded.rstrip("=")

    def _credentials(self, value: str) -> str:
        scheme = _SCHEME.match(value)
        words = scheme[0] if scheme else ""
        return f"{words}{self.mark(value[len(words) :])}"

    def _cookies(self, value: str) -> str:
        if "=" not in value:
            return self.mark(value)
        return _COOKIE.sub(lambda pair: f"{pair[1]}{self._cookie(pair[2])}", value)

    def _cookie(self, value: str) -> str:
        bare = value.strip()
        plain = bare[1:-1] if len(bare) > 1 and bare[0] == bare[-1] == '"' else bare
        return value.replace(plain, self.mark(plain)) if plain else value

    def _set_cookies(self, line: str) -> str:
        starts = [0, *(found.end() for found in _NEXT_COOKIE.finditer(line)), len(line)]
        return "".join(map(self._set_cookie, (line[a:b] for a, b in pairwise(starts))))

    def _set_cookie(self, line: str) -> str:
        pair, semicolon, attributes = line.partition(";")
        if not semicolon:
            pair, comma, after = pair.partition(",")
            semicolon, attributes = comma, after
        return f"{self._cookies(pair)}{semicolon}{attributes}"

    def _authority(self, authority: str) -> str:
        user, at, host = authority.rpartition("@")
        if not at:
            return authority
        parts = [marks.user_mark(part, self.key) for part in user.split(":", 1)]
        return f"{':'.join(parts)}@{host}"

    def _path(self, path: str) -> str:
        if _HINT.is_in(path):
            path = self._forms_of_keys(NamedValues(self.mark).pairs(path))
        return self._added_patterns(path)

    def _fragment(self, fragment: str, nested: int) -> str:
        """Return a fragment, which may be a query, or the path and query of a page of its own."""
        path, mark, query = fragment.partition("?")
        return f"{self._query(path, nested)}{mark}{self._query(query, nested)}"

    def _query(self, query: str, nested: int) -> str:
        return query and redacted_pairs(
            query,
            is_secret=self._is_secret_parameter,
            mark=self.mark,
            text_of=lambda text: self._text(text, max(0, nested - 1)),
            plus=True,
        )

    def _part_head(self, head: str) -> str:
        """Return the header lines of a part; its name and file name may have secrets, too."""
        lines = head.split("\n")
        for number, line in enumerate(lines):
            name, colon, value = line.partition(":")
            plain = value.strip()
            if colon and plain:
                lines[number] = f"{name}:{value.replace(plain, self.header(name.strip(), plain))}"
        return "\n".join(lines)

    def _form(self, text: str) -> str:
        return redacted_pairs(
            text, is_secret=self._is_secret_field, mark=self.mark, text_of=self.text, plus=True
        )

    def _is_secret_parameter(self, name: str) -> bool:
        return is_secret(name, in_query=True) or (
            self.added is not None and name in self.added.query
        )

    def _is_secret_field(self, name: str) -> bool:
        return is_secret(name, in_query=True) or (
            self.added is not None and name in self.added.form
        )


def _is_binary(content_type: str | None) -> bool:
    return (content_type or "").strip().lower().startswith(_BINARY)


def _decoded(text: str) -> str | None:
    """Return the text that is base64 in another; ``None`` if it is none."""
    letters = text.translate(_URL_SAFE).rstrip("=")
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return None


_URL_SAFE = str.maketrans("-_", "+/")
