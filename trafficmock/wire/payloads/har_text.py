"""Bodies in a HAR: texts, which have been decoded from their charset, and base64."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from contextlib import suppress

_LABEL = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,>]+)", re.IGNORECASE)
_IN_DOCUMENT = re.compile(
    r"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)|<meta[^>]+charset\s*=\s*["']?\s*([\w.:-]+)""",
    re.IGNORECASE,
)
_LOOKED_AT = 1024
"""The characters of a document in which its charset is looked for (HTML, section 4.2.5.4)."""

_DOCUMENT = re.compile(r"html|xml|octet-stream|unknown", re.IGNORECASE)
"""Types of bodies that may name their charset themselves; others are UTF-8 without one."""

_LABELS = {
    "dos-874": "cp874",
    "windows-874": "cp874",
    "windows-31j": "cp932",
    "windows-949": "cp949",
    "ks_c_5601-1989": "cp949",
    "ksc_5601": "cp949",
    "gb_2312-80": "gb18030",
    "iso-8859-6-i": "iso8859-6",
    "iso-8859-8-i": "iso8859-8",
    "logical": "iso8859-8",
    "koi8-ru": "koi8-u",
    "mac": "mac-roman",
    "unicode": "utf-16le",
    "ucs-2": "utf-16le",
    "iso-10646-ucs-2": "utf-16le",
}
"""Labels of the Encoding standard that Python does not know."""

_OF_PYTHON = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape"})
"""Codecs that are no charsets: no server sends them, and a long text takes minutes in one."""

_AS_BROWSERS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "shift-jis": "cp932",
    "euc-kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
}
"""Which charset browsers take for a label (the Encoding standard), by Python's name for it."""


def text_bytes(text: str, *types: str) -> bytes:
    """Return the bytes of a text, in the charset that its type or the document itself names.

    HAR 1.2 has texts "trans-coded from their original character set into UTF-8". A text that the
    charset does not have was not decoded from it: its bytes are UTF-8.

    :param types: values of ``content-type``; the first with a charset counts.
    """
    for charset in _charsets(text, types):
        try:
            return text.encode(charset)
        except (LookupError, ValueError):
            continue
    return text.encode("utf-8", "surrogatepass")


def _charsets(text: str, types: tuple[str, ...]) -> tuple[str, ...]:
    found = next(filter(None, map(_LABEL.search, types)), None)
    try:
        name = _codec(found[1]) if found else _named_in(text, types)
    except (LookupError, ValueError):
        return ()
    return () if name in _OF_PYTHON else (name, *filter(None, [_AS_BROWSERS.get(name)]))


def _codec(label: str) -> str:
    """Return Python's name of a charset.

    :raises LookupError: it is unknown.
    """
    plain = label.lower().removeprefix("x-")
    return codecs.lookup(_LABELS.get(plain, plain)).name.replace("_", "-")


def _named_in(text: str, types: tuple[str, ...]) -> str:
    """Return the charset that a document names, else UTF-8; a script may only quote one.

    :raises LookupError: it is unknown.
    """
    kind = next(filter(None, types), "")
    document = None
    if "<" in text and (not kind or _DOCUMENT.search(kind)):
        document = _IN_DOCUMENT.search(text, 0, _LOOKED_AT)
    if document is None:
        return "utf-8"
    if document[1]:
        return _codec(document[1])
    # What reads as ASCII up to there is not UTF-16 (HTML, section 13.2.3.2).
    name = _codec(document[2])
    return "utf-8" if name.startswith("utf-16") else name


def body_fields(content: bytes, content_type: str) -> dict[str, str]:
    """Return the fields of a body: its text if that gives a reader the same bytes, else base64."""
    try:
        text = content.decode()
        if text_bytes(text, content_type) == content:
            return {"text": text}
    except UnicodeDecodeError:
        pass
    return {"text": base64.b64encode(content).decode(), "encoding": "base64"}


def decoded_base64(text: str) -> bytes:
    """Decode base64, also without padding, with the alphabet for URLs and with white space.

    :raises ValueError: it is none.
    """
    with suppress(ValueError):
        return base64.b64decode(text, validate=True)
    plain = re.sub(r"[\s=]+", "", text).translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
