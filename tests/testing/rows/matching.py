"""Which requests a handler is asked about."""

import re
import sys
from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.matching import GlobError
from trafficmock.testing.errors import UsageError


@row
async def glob(t: RowContext) -> None:
    """A glob matches the whole URL."""
    await t.answer(f"**/echo/{t.base}", "glob")
    assert (await t.get(t.url("echo")))["body"] == "glob"
    assert (await t.get(t.url("echo", "?x=1")))["body"] != "glob"


@row
async def regex(t: RowContext) -> None:
    """A pattern is searched in the URL, with its flags."""
    await t.answer(re.compile(rf"ECHO/{t.base}\?x=\d+$", re.IGNORECASE), "regex")
    assert (await t.get(t.url("echo", "?x=12")))["body"] == "regex"
    assert (await t.get(t.url("echo", "?x=y")))["body"] != "regex"


@row
async def regex_only_python_has(t: RowContext) -> None:
    """A pattern that JavaScript would read otherwise is judged here."""
    await t.answer(re.compile(rf"(?P<page>echo)/{t.base}(?<!x)\Z"), "named")
    assert (await t.get(t.url("echo")))["body"] == "named"


@row
async def predicate(t: RowContext) -> None:
    """A predicate gets the URL as text."""
    seen: list[Any] = []

    def wanted(url: str) -> bool:
        seen.append(url)
        return t.base in url

    await t.answer(wanted, "predicate")
    assert (await t.get(t.url("echo")))["body"] == "predicate"
    assert set(map(type, seen)) == {str}


@row
async def url_pattern(t: RowContext) -> None:
    """Anything with ``test`` is a URLPattern."""

    class Pattern:
        def test(self, url: str) -> bool:
            return t.base in url

    await t.answer(Pattern(), "pattern")
    assert (await t.get(t.url("echo")))["body"] == "pattern"


@row
async def filters(t: RowContext) -> None:
    """Filters of method and client id, scalar or list, as keywords or in a mapping."""
    url = t.url("echo")
    await t.answer({"url": url, "method": ["put", "POST"], "client_id": "app"}, "mapping")
    await t.answer(url, "another's", client_id="another app")
    assert (await t.get(url, method="POST", body="x"))["body"] == "mapping"
    assert (await t.get(url))["body"] not in ("mapping", "another's")
    await t.answer(url, "keyword", method="get", client_id=["app", "b"])
    assert (await t.get(url))["body"] == "keyword"


@row
async def empty_filters(t: RowContext) -> None:
    """Empty lists do not filter, and a filter without URL matches all URLs."""
    await t.answer({"method": [], "client_id": []}, "all")
    assert (await t.get(t.url("echo")))["body"] == "all"


@row
async def empty_glob(t: RowContext) -> None:
    """The empty glob matches every URL."""
    await t.answer("", "all")
    assert (await t.get(t.url("echo")))["body"] == "all"


@row
async def bad_glob(t: RowContext) -> None:
    """A bad glob is refused at once."""
    for bad in ("**/{a", "**/a}", "**/{a,{b}}", "https://**", "http*://**"):
        try:
            await t.answer(bad, "")
        except (GlobError, UsageError):
            continue
        raise AssertionError(bad)


@row
async def throwing_predicate(t: RowContext) -> None:
    """A predicate over the URL that raises is the test's error; the request goes on."""

    def bad(url: str) -> bool:
        raise ValueError(url)

    await t.answer(bad, "never")
    assert '"path"' in (await t.get(t.url("echo")))["body"]
    errors = await t.errors()
    assert errors and all(isinstance(error, ValueError) for error in errors)


@row
async def ending_predicate(t: RowContext) -> None:
    """So is one that raises what ends a program or a test, such as `sys.exit`."""

    def ends(url: str) -> bool:
        sys.exit(url)

    await t.answer(ends, "never")
    assert '"path"' in (await t.get(t.url("echo")))["body"]
    errors = await t.errors()
    assert errors and all(isinstance(error, SystemExit) for error in errors)
