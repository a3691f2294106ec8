"""How Node processes join."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.attach.node import (
    find_preload,
    may_start_node,
    node_variables,
    runs_node,
    with_bun_preload,
    with_preload,
)
from trafficmock.attach.rest_probe import AttachError

PRELOAD = Path("/somewhere/register.js")


class VariableTests(SynchronousTestCase):
    """The agent, or else the proxy."""

    def test_node_options_are_kept(self) -> None:
        """The preload is appended to the options that are there, and only once."""
        once = with_preload("--max-old-space-size=99", PRELOAD)
        self.assertEqual(once, '--max-old-space-size=99 --require "/somewhere/register.js"')
        self.assertEqual(with_preload(once, PRELOAD), once)

    def test_quoting(self) -> None:
        """Blanks, quotes and backslashes of a path survive Node's reading of ``NODE_OPTIONS``."""
        path = Path('/a b/c"d/e\\f/register.js')
        self.assertEqual(with_preload("", path), '--require "/a b/c\\"d/e\\\\f/register.js"')

    def test_bun(self) -> None:
        """The options of Bun are kept, too; blanks and quotes of a path survive its reading."""
        path = Path("/a b/c\"d/e'f/register.js")
        once = with_bun_preload("--smol", path)
        self.assertEqual(once, '--smol "--preload=/a b/c\\"d/e\'f/register.js"')
        self.assertEqual(with_bun_preload(once, path), once)

    def test_one_way(self) -> None:
        """Node's own proxy support is on without the agent, and off with it; turbo passes both."""
        turbo = {"TURBO_ENV_MODE": "loose"}
        self.assertEqual(node_variables(None, {}), turbo | {"NODE_USE_ENV_PROXY": "1"})
        options = turbo | {
            "NODE_OPTIONS": '--require "/somewhere/register.js"',
            "BUN_OPTIONS": "--preload=/somewhere/register.js",
        }
        self.assertEqual(node_variables(PRELOAD, {}), options)
        present = {"NODE_USE_ENV_PROXY": "1"}
        self.assertEqual(node_variables(PRELOAD, present), options | {"NODE_USE_ENV_PROXY": "0"})


class PreloadTests(SynchronousTestCase):
    """Where the agent is found."""

    def setUp(self) -> None:
        self.root = Path(self.mktemp())
        self.package = self.root / "site" / "trafficmock"
        self.project = self.root / "project" / "deep"
        self.project.mkdir(parents=True)

    def put(self, place: Path) -> Path:
        place.mkdir(parents=True)
        (place / "register.js").touch()
        return place / "register.js"

    def test_nearest_first(self) -> None:
        """The project's own copy wins over the one that ships with the package."""
        shipped = self.put(self.package / "_agent")
        self.assertEqual(find_preload(self.project, self.package), shipped)
        own = self.put(self.root / "project" / "node_modules" / "trafficmock-agent")
        self.assertEqual(find_preload(self.project, self.package), own)

    def test_checkout(self) -> None:
        """A checkout's agent is used once npm has brought what it needs."""
        preload = self.put(self.root / "site" / "agent")
        self.assertRaises(AttachError, find_preload, self.project, self.package)
        (self.root / "site" / "agent" / "node_modules" / "ws").mkdir(parents=True)
        self.assertEqual(find_preload(self.project, self.package), preload)

    def test_missing(self) -> None:
        """Without any, the error says what to install."""
        error = self.assertRaises(AttachError, find_preload, self.project, self.package)
        self.assertIn("npm install --save-dev trafficmock-agent", str(error))


class CommandTests(SynchronousTestCase):
    """Which commands are certain to be Node processes."""

    def setUp(self) -> None:
        self.bin = Path(self.mktemp()).absolute()
        self.bin.mkdir()

    def script(self, name: str, content: bytes, folder: Path | None = None) -> Path:
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755)
        return path

    def test_names(self) -> None:
        """Node and its package managers are known by name, wherever they are."""
        for command in ("node", "/opt/node-22/bin/node", "npx", "./pnpm"):
            self.assertTrue(runs_node(command, ""), command)

    def test_scripts(self) -> None:
        """A script is a Node process when its first line says so."""
        self.script("next", b"#!/usr/bin/env node\nrequire('x')\n")
        self.script("serve", b"#!/usr/local/bin/node --enable-source-maps\n")
        self.script("flask", b"#!/usr/bin/python3\n# node\n")
        self.script("binary", b"\x7fELF node")
        found = {name: runs_node(name, str(self.bin)) for name in ("next", "serve")}
        self.assertEqual(found, {"next": True, "serve": True})
        others = [name for name in ("flask", "binary", "absent") if runs_node(name, str(self.bin))]
        self.assertEqual(others, [])

    def test_package_binaries(self) -> None:
        """What npm put into ``node_modules/.bin`` is one, though it be a shell's."""
        folder = self.bin / "node_modules" / ".bin"
        path = self.script("vite", b"#!/bin/sh\nexec something\n", folder)
        self.assertTrue(runs_node(str(path)))
        self.assertTrue(runs_node("vite", str(folder)))

    def test_launchers(self) -> None:
        """Shells, make and shell scripts may start Node where it is installed; others do not."""
        self.script("start", b"#!/bin/bash\nnode server.js\n")
        self.script("flask", b"#!/usr/bin/python3\n# sh\n")
        self.assertFalse(may_start_node("start", str(self.bin)))
        self.script("node", b"")
        commands = ("start", "make", "sh", "flask", "absent", "node")
        may = [each for each in commands if may_start_node(each, str(self.bin))]
        self.assertEqual(may, ["start", "make", "sh"])
