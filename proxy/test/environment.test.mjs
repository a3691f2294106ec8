import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const { cacheDirectory, interpreter } = createRequire(import.meta.url)("../src/environment.js");

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const place = mkdtempSync(join(tmpdir(), "trafficmock proxy "));
test.after(() => rmSync(place, { recursive: true, force: true }));

const WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("trafficmock/__init__.py", "")
    wheel.writestr("trafficmock/__main__.py", "import sys; print(sys.argv[1:]); sys.exit(int(sys.argv[-1] == 'fail') * 7)")
    info = "trafficmock-9.9.dist-info/"
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: trafficmock\\nVersion: 9.9\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
`;

/** The package with a small wheel; without one for `wheel: false`. */
function installed(name, { wheel = true } = {}) {
  const directory = join(place, name);
  cpSync(PACKAGE, directory, { recursive: true, filter: (source) => !source.includes("node_modules") });
  if (wheel) execFileSync("python3", ["-c", WHEEL, join(directory, "trafficmock-9.9-py3-none-any.whl")]);
  return directory;
}

function call(directory, words, env = {}) {
  const program = join(directory, "bin", "trafficmock-proxy.js");
  return spawnSync(process.execPath, [program, ...words], {
    encoding: "utf8",
    env: { ...process.env, XDG_CACHE_HOME: join(place, "cache"), ...env },
  });
}

test("the environment is made once, and the command gets the words", () => {
  const directory = installed("package");
  const first = call(directory, []);
  assert.equal(first.status, 0, first.stderr);
  assert.equal(first.stdout, "['serve']\n");
  assert.match(first.stderr, /^trafficmock-proxy: installing trafficmock 9\.9 into .*9\.9-[0-9a-f]{12}, once\n$/);
  const second = call(directory, ["history", "fail"]);
  assert.deepEqual([second.status, second.stdout, second.stderr], [7, "['history', 'fail']\n", ""]);
  assert.equal(readdirSync(join(place, "cache", "trafficmock")).length, 1);
});

test("without Python it says what to install", () => {
  const empty = join(place, "empty");
  mkdirSync(empty);
  const { status, stderr } = call(installed("alone"), ["serve"], { PATH: empty, XDG_CACHE_HOME: join(place, "other") });
  assert.equal(status, 1);
  assert.match(stderr, /the proxy needs Python 3\.11 or later, or uv/);
  assert.doesNotMatch(stderr, /\n {4}at /);
  assert.deepEqual(readdirSync(join(place, "other", "trafficmock")), []);
});

test("a checkout has no wheel, and says so", () => {
  const { status, stderr } = call(installed("checkout", { wheel: false }), ["serve"]);
  assert.equal(status, 1);
  assert.match(stderr, /has no wheel of trafficmock/);
});

test("each platform has its own directories", () => {
  const local = { LOCALAPPDATA: "C:\\Users\\me\\AppData\\Local" };
  assert.equal(cacheDirectory("win32", local), "C:\\Users\\me\\AppData\\Local\\trafficmock\\Cache");
  assert.match(cacheDirectory("darwin", {}), /\/Library\/Caches\/trafficmock$/);
  assert.match(cacheDirectory("linux", { XDG_CACHE_HOME: "relative" }), /\/\.cache\/trafficmock$/);
  assert.equal(cacheDirectory("linux", { XDG_CACHE_HOME: "/var/own" }), "/var/own/trafficmock");
  assert.equal(interpreter("C:\\env", "win32"), "C:\\env\\Scripts\\python.exe");
  assert.equal(interpreter("/env", "darwin"), "/env/bin/python");
  assert.equal(dirname(interpreter("/env", "linux")), "/env/bin");
});
