"""Writes the types of REST for the scripts of the dashboard: ``python -m tools.rest_types``.

They are those of ``docs/openapi.yaml``: an interface for each object there. A test fails while the
file is not current.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import fill, indent
from typing import Any

import yaml

REPOSITORY = Path(__file__).parents[1]
OPENAPI = REPOSITORY / "docs" / "openapi.yaml"
FILE = REPOSITORY / "trafficmock" / "dashboard" / "rest-records.d.ts"

WIDTH = 120
"""The most characters of a line, as prettier lays it out."""

_HEAD = (
    "/** Written from `docs/openapi.yaml` by tools/rest_types.py: do not edit; no page loads it. */"
)
_SCALARS = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}


def written() -> str:
    """Return the text of the file."""
    document = yaml.safe_load(OPENAPI.read_text(encoding="utf-8"))
    schemas = document["components"]["schemas"]
    interfaces = [
        f"{_comment(schema)}export interface {name} {_object(schema, schemas)}\n"
        for name, schema in schemas.items()
        if "properties" in schema
    ]
    return "\n".join([f"{_HEAD}\n", *interfaces])


def _object(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    required = schema.get("required", [])
    members = [
        _member(name, member, schemas, is_required=name in required)
        for name, member in schema["properties"].items()
    ]
    return "{\n" + indent("".join(members), "  ") + "}"


def _member(
    name: str, schema: dict[str, Any], schemas: dict[str, Any], *, is_required: bool
) -> str:
    named, comment = f"{name}{'' if is_required else '?'}:", _comment(_described(schema, schemas))
    kind = _type(schema, schemas)
    if "{" not in kind and " | " in kind and len(f"  {named} {kind};") > WIDTH:
        kind = "".join(f"\n  | {each}" for each in kind.split(" | "))
        return f"{comment}{named}{kind};\n"
    return f"{comment}{named} {kind};\n"


def _type(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """Return the type of a value; an object that has a name is referred to."""
    match schema:
        case {"$ref": reference}:
            name = reference.rpartition("/")[2]
            kind = name if "properties" in schemas[name] else _type(schemas[name], schemas)
        case {"enum": choices}:
            kind = " | ".join(map(json.dumps, choices))
        case {"const": value}:
            kind = json.dumps(value)
        case {"prefixItems": parts}:
            kind = f"[{', '.join(_type(part, schemas) for part in parts)}]"
        case {"items": item}:
            each = _type(item, schemas)
            kind = f"({each})[]" if " | " in each and "{" not in each else f"{each}[]"
        case {"properties": _}:
            kind = _object(schema, schemas)
        case {"type": "object", "additionalProperties": dict(values)}:
            kind = f"Record<string, {_type(values, schemas)}>"
        case {"type": [*kinds]}:
            kind = " | ".join(_SCALARS[name] for name in kinds)
        case {"type": str(scalar)}:
            kind = _SCALARS[scalar]
        case _:
            kind = "unknown"
    return kind


def _described(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the schema whose description a member has: its own, or that of a value with a name."""
    if "$ref" not in schema or "description" in schema:
        return schema
    target: dict[str, Any] = schemas[schema["$ref"].rpartition("/")[2]]
    return {} if "properties" in target else target


def _comment(schema: dict[str, Any]) -> str:
    text = " ".join(schema.get("description", "").split())
    if not text:
        return ""
    if len(text) < WIDTH - 20:
        return f"/** {text} */\n"
    lines = fill(text, WIDTH - 20, break_long_words=False, break_on_hyphens=False)
    return "/**\n" + indent(lines, " * ") + "\n */\n"


def main() -> int:
    """Write the file anew.

    :returns: the exit status.
    """
    FILE.write_text(written(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
