"""Parses the query parameters of the lists strictly.

Of several parameters with one name the first counts. An empty parameter counts as absent, an
unknown one is ignored, and an invalid value is an error that names the allowed ones.
"""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl

from attrs import frozen

from trafficmock.history.query import Query
from trafficmock.http.responses import RestError
from trafficmock.redaction.redactor import Redactor
from trafficmock.texts.named_fields import InvalidFieldError

_WHOLE = re.compile(r"[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_STATUS = re.compile(r"(?P<class>[1-9])[xX]{2}|[1-9][0-9]{2}", re.ASCII)
_MOST = 2**53 - 1
_MOST_DIGITS = 15
_LONGEST_NUMBER = 40
_SHOWN = 40


@frozen
class ListRequest:
    """The parameters of a request for a list.

    :param query: the filters, search and paging.
    :param summary: whether bodies, headers and events are left out (``fields=summary``).
    :param since: the entity tag of an earlier response, to list only changes after it; else
        ``None``.
    """

    query: Query
    summary: bool
    since: str | None


def read_list_request(query_string: str) -> ListRequest:
    """Read the query string of ``/api/history`` or ``/api/ws``.

    :param query_string: the part of the URL behind ``?``, not decoded.
    :raises RestError: 400 ``invalid_parameter``, with the parameter and its allowed values.
    """
    given = _first_values(query_string)
    query = Query(
        q=given.get("q", ""),
        from_=_number(given, "from"),
        to=_number(given, "to"),
        test_id=given.get("testId"),
        client_id=given.get("clientId"),
        action=given.get("action"),
        method=given.get("method"),
        status=_status(given),
        unowned=_flag(given, "unowned"),
        late=_flag(given, "late"),
        limit=_count(given, "limit"),
        offset=_count(given, "offset") or 0,
    )
    return ListRequest(query, _fields(given, "summary"), given.get("since"))


def wants_tests(query_string: str) -> bool:
    """Read the query string of ``/api/connections``: ``fields=tests`` lists tests and routes.

    :raises RestError: 400 ``invalid_parameter`` for other values.
    """
    return _fields(_first_values(query_string), "tests")


def wants_failed(query_string: str) -> bool:
    """Read the query string of a HAR: ``failed=true`` makes one without a response, too.

    :raises RestError: 400 ``invalid_parameter`` for other values.
    """
    return _flag(_first_values(query_string), "failed")


def added_redactor(query_string: str, redactor: Redactor) -> Redactor | None:
    """Read ``redact``, which may be given several times: ``on``, ``off`` or further fields.

    :param redactor: that of the service, whose fields are redacted, too.
    :returns: ``None`` without the parameter.
    :raises RestError: 400 ``invalid_parameter`` for another value.
    """
    given = parse_qsl(query_string, keep_blank_values=True, errors="replace")
    words = [value for name, value in given if name == "redact" and value]
    if not words:
        return None
    try:
        return redactor.adding(words)
    except InvalidFieldError as error:
        raise RestError(400, "invalid_parameter", f"{error}. Or leave it out.") from None


def _first_values(query_string: str) -> dict[str, str]:
    """Decode the parameters: the first value of each name, without empty ones."""
    found: dict[str, str] = {}
    for name, value in parse_qsl(query_string, keep_blank_values=True, errors="replace"):
        found.setdefault(name, value)
    return {name: value for name, value in found.items() if value}


def _number(given: Mapping[str, str], name: str) -> float | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        raise _invalid(name, text, "a number of milliseconds since 1970")
    return float(text)


def _count(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    if not _WHOLE.fullmatch(text):
        raise _invalid(name, text, "a whole number, 0 or more")
    digits = text.lstrip("0") or "0"
    return int(digits) if len(digits) <= _MOST_DIGITS else _MOST


def _status(given: Mapping[str, str]) -> range | None:
    """Read ``404``, or ``4xx`` for a whole class (RFC 9110 section 15)."""
    text = given.get("status", "").strip()
    if not text:
        return None
    found = _STATUS.fullmatch(text)
    if not found:
        raise _invalid("status", text, "a status such as 404, or a class such as 4xx")
    if found["class"]:
        first = int(found["class"]) * 100
        return range(first, first + 100)
    return range(int(text), int(text) + 1)


def _flag(given: Mapping[str, str], name: str) -> bool:
    text = given.get(name)
    if text not in (None, "true"):
        raise _invalid(name, text, "true")
    return text is not None


def _fields(given: Mapping[str, str], allowed: str) -> bool:
    fields = given.get("fields")
    if fields not in (None, allowed):
        raise _invalid("fields", fields, allowed)
    return fields is not None


def _invalid(name: str, text: str, allowed: str) -> RestError:
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return RestError(
        400, "invalid_parameter", f"{name} must be {allowed}, not {shown!r}. Or leave it out."
    )
