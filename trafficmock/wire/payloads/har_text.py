"""Bodies in a HAR: texts, which have been decoded from their charset, and base64."""

from __future__ import annotations

import base64
import binascii
import codecs
import re

_LABEL = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,>]+)", re.IGNORECASE)
_IN_DOCUMENT = re.compile(
    r"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)|<meta[^>]+charset\s*=\s*["']?\s*([\w.:-]+)""",
    re.IGNORECASE,
)
_LOOKED_AT = 1024
"""The characters of a document in which its charset is looked for (HTML, section 4.2.5.4)."""

_AS_BROWSERS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
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
    if found is None:
        document = _IN_DOCUMENT.search(text, 0, _LOOKED_AT) if "<" in text else None
        label = document[1] or document[2] if document else "utf-8"
    else:
        label = found[1]
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return ()
    return (name, *filter(None, [_AS_BROWSERS.get(name)]))


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
    plain = re.sub(r"[\s=]+", "", text).translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
