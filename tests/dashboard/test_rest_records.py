"""The types of the REST records, as the scripts of the pages use them."""

import re
from typing import Any

import yaml
from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY

RECORDS = REPOSITORY / "trafficmock" / "dashboard" / "rest-records.d.ts"
OPENAPI = REPOSITORY / "docs" / "openapi.yaml"

INTERFACE = re.compile(
    r"^(export )?interface (\w+)(?: extends (\w+))? \{\n(.*?)^\}$", re.MULTILINE | re.DOTALL
)
MEMBER = re.compile(r"^  (\w+)(\??): (.*?);?$", re.MULTILINE)

WITHIN = {"RegisteredRoute": ("RegisteredTest", "routes")}
"""Interfaces of objects that OpenAPI describes within another one: its name, and the list there."""


def _joint(between: re.Match[str]) -> str:
    """Give what stands between the values of a choice, or before the first, in one line."""
    return ": " if between[0].startswith(":") else " | "


class RestRecordsTests(SynchronousTestCase):
    """``rest-records.d.ts`` says what ``docs/openapi.yaml`` says."""

    def setUp(self) -> None:
        document = yaml.safe_load(OPENAPI.read_text(encoding="utf-8"))
        self.schemas: dict[str, Any] = document["components"]["schemas"]
        texts: dict[str, str] = {}
        self.interfaces: dict[str, str] = {}
        # A long choice has a line for each value.
        source = re.sub(r":?\n +\| ", _joint, RECORDS.read_text(encoding="utf-8"))
        for exported, name, parent, text in INTERFACE.findall(source):
            texts[name] = texts.get(parent, "") + text
            if exported:
                self.interfaces[name] = texts[name]

    def schema(self, name: str) -> Any:
        if name not in WITHIN:
            return self.schemas[name]
        outer, member = WITHIN[name]
        return self.schemas[outer]["properties"][member]["items"]

    def written(self, member: dict[str, Any]) -> str | None:
        """Write what OpenAPI allows for a member, where that is a choice of values."""
        while "$ref" in member:
            member = self.schemas[member["$ref"].rpartition("/")[2]]
        values = member.get("enum")
        return values and " | ".join(f'"{value}"' for value in values)

    def test_members(self) -> None:
        """Each interface has the members of its schema; the same ones are optional."""
        self.assertIn("HttpEntry", self.interfaces)
        for name, text in self.interfaces.items():
            schema = self.schema(name)
            required = schema.get("required", [])
            self.assertEqual(
                {member: not optional for member, optional, _ in MEMBER.findall(text)},
                {member: member in required for member in schema["properties"]},
                name,
            )

    def test_choices(self) -> None:
        """A member with a choice of values has the choice of its schema."""
        for name, text in self.interfaces.items():
            members = self.schema(name)["properties"]
            for member, _, kind in MEMBER.findall(text):
                if (choice := self.written(members[member])) is not None:
                    self.assertEqual(kind, choice, f"{name}.{member}")
