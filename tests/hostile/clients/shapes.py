"""Messages with one wrong field each, made from the types that they are read into."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec.inspect as mi
from attrs import frozen

from trafficmock.wire.client_message import ClientMessage

WRONG = {
    "null": None,
    "bool": True,
    "int": 7,
    "float": 1.5,
    "str": "wrong",
    "list": [1],
    "dict": {"a": 1},
}
_KINDS: dict[type[mi.Type], set[str]] = {
    mi.NoneType: {"null"},
    mi.BoolType: {"bool"},
    mi.IntType: {"int"},
    mi.FloatType: {"int", "float"},
    mi.StrType: {"str"},
    mi.LiteralType: {"str"},
    mi.ListType: {"list"},
    mi.TupleType: {"list"},
    mi.DictType: {"dict"},
    mi.StructType: {"dict"},
}
_BODY_KINDS = {"null", "str"}
_READ_LATER = (".detail", ".har.entries[0]", ".options[x]", ".stream[x]")
"""Nothing is wrong there for the decoder: entries of a HAR, and options, are read by themselves."""
_TEXTS = ("eA==", "0123456789abcdef" * 2)
"""Base64, and an id of 16 bytes."""


@frozen
class Broken:
    """A message that is not valid, and what is wrong with it."""

    what: str
    message: dict[str, Any]


def message_types() -> list[mi.StructType]:
    """List the types of messages that clients may send."""
    union = mi.type_info(ClientMessage)
    assert isinstance(union, mi.UnionType)
    return [one for one in union.types if isinstance(one, mi.StructType)]


def sample(kind: mi.Type) -> Any:  # noqa: PLR0911 - one answer a type
    """Make a valid value, with all that is optional."""
    match kind:
        case mi.StructType():
            tag = {kind.tag_field: kind.tag} if kind.tag_field else {}
            return tag | {field.encode_name: sample(field.type) for field in kind.fields}
        case mi.UnionType():
            return sample(_alternatives(kind)[0])
        case mi.LiteralType():
            return kind.values[0]
        case mi.ListType():
            return [sample(kind.item_type)]
        case mi.TupleType():
            return [sample(item) for item in kind.item_types]
        case mi.DictType():
            return {"x": "y"}
        case mi.BoolType():
            return True
        case mi.IntType() | mi.FloatType():
            return 200
        case mi.StrType(pattern=str(pattern)):
            return next(text for text in _TEXTS if re.search(pattern, text))
    return _TEXTS[0]


def broken(kind: mi.StructType) -> Iterator[Broken]:
    """Break every field of a type of messages in every way."""
    whole = sample(kind)
    for what, made in _broken_structs(kind, whole, str(kind.tag)):
        yield Broken(what, made)


def _broken_structs(
    kind: mi.StructType, whole: dict[str, Any], path: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    for field in kind.fields:
        name, here = field.encode_name, f"{path}.{field.encode_name}"
        if field.required:
            yield f"{here} is missing", {key: whole[key] for key in whole if key != name}
        for what, value in _broken_values(field.type, whole[name], here):
            yield what, whole | {name: value}


def _broken_values(kind: mi.Type, good: Any, path: str) -> Iterator[tuple[str, Any]]:
    if path.endswith(_READ_LATER) or isinstance(kind, mi.AnyType):
        return
    allowed = set().union(*(_kinds(one) for one in _alternatives(kind)))
    for name, value in WRONG.items():
        if name not in allowed:
            yield f"{path} is {name}", value
    for one in _alternatives(kind):
        yield from _broken_parts(one, good, path)


def _broken_parts(kind: mi.Type, good: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Break what is within a value."""
    match kind:
        case mi.StructType():
            yield from _broken_struct(kind, path)
        case mi.ListType():
            for what, value in _broken_values(kind.item_type, good[0], f"{path}[0]"):
                yield what, [value]
        case mi.TupleType():
            yield f"{path} is short", good[:1]
            yield f"{path} is long", [*good, "x"]
            for what, value in _broken_values(kind.item_types[0], good[0], f"{path}[0]"):
                yield what, [value, *good[1:]]
        case mi.DictType():
            for what, value in _broken_values(kind.value_type, "y", f"{path}[x]"):
                yield what, {"x": value}
        case _:
            yield from _out_of_range(kind, path)


def _broken_struct(kind: mi.StructType, path: str) -> Iterator[tuple[str, Any]]:
    whole = sample(kind)
    yield from _broken_structs(kind, whole, f"{path}({kind.tag})" if kind.tag else path)
    if kind.tag_field:
        yield f"{path} has another tag", whole | {kind.tag_field: "wrong"}
        yield f"{path} has no tag", {k: whole[k] for k in whole if k != kind.tag_field}


def _out_of_range(kind: mi.Type, path: str) -> Iterator[tuple[str, Any]]:
    match kind:
        case mi.StrType() if kind.min_length:
            yield f"{path} is empty", ""
        case mi.StrType() if kind.pattern:
            yield f"{path} is of another form", "wrong\n"
        case mi.LiteralType():
            yield f"{path} is another word", "wrong"
        case mi.IntType() if kind.ge is not None:
            yield f"{path} is too large", 2**53
            yield f"{path} is too small", -(2**53)


def _alternatives(kind: mi.Type) -> list[mi.Type]:
    """List what a value may be."""
    return list(kind.types) if isinstance(kind, mi.UnionType) else [kind]


def _kinds(kind: mi.Type) -> set[str]:
    return _BODY_KINDS if isinstance(kind, mi.RawType) else _KINDS[type(kind)]
