"""Routes and waits that look at more than the URL."""

import json
import re
from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UsageError, WaitTimeoutError

JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


async def body(t: RowContext, query: str = "", **command: Any) -> str:
    """Let the application ask; give the body of the answer, the real server's without a route."""
    answer = await t.get(t.url("echo", query), **command)
    return str(answer["body"])


async def post(t: RowContext, value: Any) -> str:
    """Let the application send JSON."""
    return await body(t, method="POST", headers=JSON, body=json.dumps(value))


async def mocks(t: RowContext, name: str, **options: Any) -> Any:
    """Answer requests with a name, the queries included."""
    return await t(t.mocks.mock(re.compile(rf"/echo/{t.base}"), body=name, **options))


@row
async def query(t: RowContext) -> None:
    """``match_query`` compares names of the query string, in any order and with others beside."""
    await mocks(t, "page 2", match_query={"page": 2, "empty": ""})
    await mocks(t, "two tags", match_query={"tag": ["a", "b"]})
    await mocks(t, "no key", match_query={"q": re.compile("^x+$"), "key": None})
    assert await body(t, "?other=1&empty=&page=2") == "page 2"
    assert await body(t, "?page=1&page=2&empty") == "page 2"
    assert await body(t, "?tag=a&tag=b") == "two tags"
    assert await body(t, "?q=xx") == "no key"
    for other in ("?page=2", "?page=22&empty=", "?tag=b&tag=a", "?tag=a&tag=b&tag=c", "?q=xx&key="):
        assert await body(t, other) not in ("page 2", "two tags", "no key"), other


@row
async def headers(t: RowContext) -> None:
    """``match_headers`` compares headers, with names in any case."""
    await mocks(t, "the key", match_headers={"Idempotency-Key": re.compile("^[0-9a-f]{4}$")})
    assert await body(t, headers={"idempotency-key": "00ff"}) == "the key"
    assert await body(t, headers={"idempotency-key": "00ffg"}) != "the key"
    assert await body(t) != "the key"


@row
async def json_body(t: RowContext) -> None:
    """``match_json`` compares a part of the body: members by name, lists by length and items."""
    await mocks(t, "two", match_json={"items": [{"id": "a", "quantity": 2}], "note": None})
    await mocks(t, "three", match_json={"items": [{"quantity": 3}], "by": re.compile("@shop")})
    order: dict[str, Any] = {
        "items": [{"id": "a", "quantity": 2, "more": True}],
        "note": None,
        "other": 1,
    }
    assert await post(t, order) == "two"
    assert await post(t, {"items": [{"quantity": 3.0}], "by": "x@shop"}) == "three"
    others: tuple[Any, ...] = (
        {**order, "items": [*order["items"], {}]},
        {**order, "note": 0},
        {"items": [{"id": "a", "quantity": "2"}], "note": None},
        {"items": [{"quantity": 3}], "by": ["x@shop"]},
        [],
        None,
    )
    for other in others:
        assert await post(t, other) not in ("two", "three"), other
    assert await body(t, method="POST", headers=JSON, body='{"items"') not in ("two", "three")
    assert await body(t) not in ("two", "three")


@row
async def form(t: RowContext) -> None:
    """``match_form`` compares the fields of a form."""
    await mocks(t, "Zürich", match_form={"city": "Zürich", "n": [1, 2]})
    assert await body(t, method="POST", headers=FORM, body="n=1&city=Z%C3%BCrich&n=2") == "Zürich"
    assert await body(t, method="POST", headers=FORM, body="n=1&city=Zurich&n=2") != "Zürich"


@row
async def graphql(t: RowContext) -> None:
    """``match_graphql`` compares the operation, named beside or in the document, and variables."""
    await mocks(t, "cart", match_graphql="GetCart")
    await mocks(t, "item 7", match_graphql=("AddItem", {"item": {"id": 7}}))
    document = "fragment F on Cart { id }\nquery GetCart($id: ID!) { cart(id: $id) { ...F } }"
    assert await post(t, {"query": document}) == "cart"
    assert await post(t, {"query": document, "operationName": "GetCart"}) == "cart"
    added = {"operationName": "AddItem", "query": "mutation AddItem { x }"}
    assert await post(t, {**added, "variables": {"item": {"id": 7, "n": 1}}}) == "item 7"
    assert await post(t, {**added, "variables": {"item": {"id": 8}}}) != "item 7"


@row
async def functions(t: RowContext) -> None:
    """A value may be a function, which is asked about the value when all else matches."""
    asked: list[Any] = []

    def is_even(value: Any) -> bool:
        asked.append(value)
        return bool(value % 2 == 0)

    def is_long(value: Any) -> bool:
        return len(value) > 3

    await mocks(t, "even", match_json={"lines": [{"n": is_even}], "kind": "a"})
    await mocks(t, "long", match_query={"tag": is_long, "kind": "b"}, times=1)
    await mocks(t, "key", match_headers={"Idempotency-Key": is_long})
    await mocks(t, "form", match_form={"city": is_long})
    await mocks(t, "operation", match_graphql=(is_long, {"id": is_even}))
    assert await post(t, {"lines": [{"n": 4}], "kind": "a"}) == "even"
    assert await post(t, {"lines": [{"n": 3}], "kind": "a"}) != "even"
    assert await post(t, {"lines": [{"n": 6}], "kind": "b"}) != "even"
    assert await post(t, {"lines": [{}], "kind": "a"}) != "even"
    assert asked == [4, 3]
    assert await body(t, "?tag=ab&kind=b") != "long"
    assert await body(t, "?tag=ab&tag=abcd&kind=b") == "long"
    assert await body(t, "?tag=abcd&kind=b") != "long"
    assert await body(t, headers={"idempotency-key": "00ff"}) == "key"
    assert await body(t, headers={"idempotency-key": "00f"}) != "key"
    assert await body(t, method="POST", headers=FORM, body="city=Bern&n=1") == "form"
    document = {"query": "query GetCart { x }", "variables": {"id": 2}}
    assert await post(t, document) == "operation"
    assert await post(t, {**document, "operationName": "Get"}) != "operation"
    assert await post(t, {**document, "variables": {"id": 3}}) != "operation"


@row
async def functions_that_raise(t: RowContext) -> None:
    """A function in the place of a value that raises is the test's error; the request goes on."""

    def raises(value: Any) -> bool:
        raise LookupError(f"no {value}")

    await mocks(t, "mocked", match_json={"kind": raises})
    assert await post(t, {"kind": "a"}) != "mocked"
    (error,) = await t(t.mocks.take_errors())
    assert "no a" in str(error), error


@row
async def handlers_in_order(t: RowContext) -> None:
    """A handler with conditions is one of the chain, and a later one sees the changes before it."""
    seen: list[str] = []

    async def changes(route: Any, request: Any) -> None:
        seen.append("changes")
        await t(route.fallback(post_data={"kind": "b"}))

    async def answers(route: Any, request: Any) -> None:
        seen.append("answers")
        await t(route.fulfill(body="b"))

    await t.route(t.url("echo"), answers, match_json={"kind": "b"})
    await t.route(t.url("echo"), changes, match_json={"kind": "a"})
    assert await post(t, {"kind": "a"}) == "b"
    assert seen == ["changes", "answers"]
    assert await post(t, {"kind": "b"}) == "b"
    assert seen == ["changes", "answers", "answers"]


@row
async def waits(t: RowContext) -> None:
    """Waits and ``requests`` take conditions; the text of one that is overdue names the field."""
    pattern = re.compile(rf"/echo/{t.base}")
    wanted = {"match_json": {"items": [{"quantity": 2}]}}

    async def act() -> None:
        await post(t, {"items": [{"quantity": 3}]})
        await post(t, {"items": [{"quantity": 2}]})

    found = await t.expect("request", pattern, act, **wanted)
    assert found.post_data_json == {"items": [{"quantity": 2}]}

    def is_more(value: Any) -> bool:
        return bool(value > 2)

    more = {"match_json": {"items": [{"quantity": is_more}]}}
    found = await t.expect("request", pattern, act, **more)
    assert found.post_data_json == {"items": [{"quantity": 3}]}
    answer = await t.expect("response", pattern, act, **more)
    assert answer.request.post_data_json == {"items": [{"quantity": 3}]}
    assert len(await t.requests(pattern, **more)) == 3
    assert len(await t.requests(pattern, **wanted)) == 3
    assert len(await t.requests(pattern)) == 6
    try:
        await t.expect(
            "request", pattern, act, timeout=300, match_json={"items": [{"quantity": 4}]}
        )
    except WaitTimeoutError as error:
        assert "json.items[0].quantity is 3, wanted 4" in str(error), error
    else:
        raise AssertionError("the wait ended")


@row
async def what_cannot_be_compared(t: RowContext) -> None:
    """What is no value to compare is an error at the call."""
    for options, text in (
        ({"match_form": {"a": {}}}, "cannot be compared with"),
        ({"match_query": ["a"]}, "match_query"),
        ({"match_graphql": 5}, "match_graphql"),
    ):
        try:
            await t(t.mocks.mock(t.url("echo"), **options))
        except UsageError as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"{options} was accepted")
