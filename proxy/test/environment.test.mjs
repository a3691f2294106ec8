import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const { cacheDirectory } = require("../src/cache.js");
const { interpreter } = require("../src/environment.js");

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

/** A `uv` that makes environments at once: what is tested is what becomes of them. */
const UV = `#!/bin/sh
case "$1" in
  venv) for last; do :; done; mkdir -p "$last/bin"; ln -s "$BASE" "$last/bin/python" ;;
  pip) at=$(dirname "$(dirname "$5")")
    mkdir -p "$at/lib/python3/site-packages/trafficmock"
    printf '#!%s/bin/python\n' "$at" > "$at/bin/trafficmock"
    touch "$at/lib/python3/site-packages/trafficmock/__main__.py" ;;
esac
[ -z "$SLOW" ] || [ "$1" != pip ] || { echo waits >&2; sleep 60; }
`;

/** What stands for Python: it says that it was called. */
const BASE = "#!/bin/sh\necho called\n";

/** A package whose environments the `uv` above makes, in a cache of its own. */
function fast(name) {
  const [directory, bin, cache] = [installed(name), join(place, `${name} bin`), join(place, `${name} cache`)];
  mkdirSync(bin);
  const base = join(bin, "base");
  for (const [file, text] of [
    [join(bin, "uv"), UV],
    [base, BASE],
  ]) {
    writeFileSync(file, text, { mode: 0o755 });
  }
  const env = { PATH: `${bin}:/usr/bin:/bin`, XDG_CACHE_HOME: cache, BASE: base };
  const environments = join(cache, "trafficmock");
  const start = (more = {}) => call(directory, [], { ...env, ...more });
  const made = () => {
    const { status, stdout, stderr } = start();
    assert.deepEqual([status, stdout], [0, "called\n"], stderr);
    assert.match(stderr, /^trafficmock-proxy: installing trafficmock 9\.9 into .*, once\n$/);
    const [only, ...others] = readdirSync(environments);
    assert.deepEqual(others, []);
    return join(environments, only);
  };
  return { base, bin, cache, directory, env, environments, made, start };
}

test("an environment of which a part is gone is made again", () => {
  const { base, bin, made, start } = fast("parts");
  const place_ = made();
  assert.equal(start().stderr, "");
  for (const part of ["complete", "lib", "bin", "bin/python", "lib/python3/site-packages/trafficmock/__main__.py"]) {
    rmSync(join(place_, part), { recursive: true });
    assert.equal(made(), place_, part);
  }
  writeFileSync(join(place_, "complete"), '{"python":');
  made();
  // Another Python in the place of the one that it was made with, as after an upgrade: `python3` is a link.
  renameSync(base, join(bin, "python3.99"));
  symlinkSync("python3.99", base);
  made();
});

test("a Python that is gone makes it again with the one that is there", () => {
  const directory = installed("upgraded");
  const env = { XDG_CACHE_HOME: join(place, "upgraded cache") };
  assert.equal(call(directory, [], env).status, 0);
  const [name] = readdirSync(join(place, "upgraded cache", "trafficmock"));
  const python = join(place, "upgraded cache", "trafficmock", name, "bin", "python");
  const script = execFileSync("head", ["-1", join(dirname(python), "pip")], { encoding: "utf8" });
  assert.equal(script.includes(`${name}.`), false, script);
  rmSync(python);
  symlinkSync("/nowhere/python3", python);
  const { status, stdout, stderr } = call(directory, [], env);
  assert.deepEqual([status, stdout], [0, "['serve']\n"], stderr);
});

test("what another program still writes to is left to a later start", () => {
  const fs = require("node:fs");
  const file = require.resolve("../src/cache.js");
  const { rmSync: remove } = fs;
  let code = "ENOTEMPTY";
  fs.rmSync = () => {
    throw Object.assign(new Error(code), { code });
  };
  delete require.cache[file];
  try {
    const { discard } = require("../src/cache.js");
    discard(place);
    code = "EIO";
    assert.throws(() => discard(place), { code });
  } finally {
    fs.rmSync = remove;
    delete require.cache[file];
  }
});

test("what a killed process left is removed by the next one", async () => {
  const { directory, env, environments, made } = fast("killed");
  for (const signal of ["SIGTERM", "SIGINT", "SIGKILL"]) {
    const program = join(directory, "bin", "trafficmock-proxy.js");
    const child = spawn(process.execPath, [program], {
      env: { ...process.env, ...env, SLOW: "1" },
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    await once(child.stderr, "data");
    while (!existsSync(environments) || !readdirSync(environments).length) await setTimeout(10);
    const ended = once(child, "exit");
    process.kill(-child.pid, signal);
    await ended;
  }
  // As older versions named it, and one that still runs, and one of another machine.
  mkdirSync(join(environments, "9.9-0123456789ab.4194304"));
  const [alive, foreign] = ["9.9-0123456789ab.1", "9.9-0123456789ab.elsewhere-host.4194304"];
  for (const name of [alive, foreign]) mkdirSync(join(environments, name));
  assert.throws(made);
  const left = readdirSync(environments).filter((name) => /\.[\w-]+$/.test(name.slice(4)));
  assert.deepEqual(left.sort(), [alive, foreign]);
});

test("a cache that others can write is refused, and nothing of it is run", () => {
  const { cache, environments, made, start } = fast("shared");
  const place_ = made();
  for (const directory of [environments, place_, cache]) {
    const mode = statSync(directory).mode & 0o777;
    chmodSync(directory, 0o777);
    const { status, stdout, stderr } = start();
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(stderr, /^trafficmock-proxy: \/.* can be written by others .* Run: chmod go-w .*\n$/);
    chmodSync(directory, mode);
  }
  // As /tmp: nobody can rename there what is another's.
  chmodSync(cache, 0o1777);
  assert.equal(start().stdout, "called\n");
  if (process.geteuid() !== 0) return;
  chownSync(place_, 4242, 4242);
  assert.match(start().stderr, /^trafficmock-proxy: .* belongs to user 4242, not to user 0, .*\n$/);
});

test("one sentence says why there can be none", () => {
  const { cache, env, directory } = fast("file");
  writeFileSync(cache, "");
  const { status, stderr } = call(directory, [], env);
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^trafficmock-proxy: no environment of Python can be made in .*: E\w+: .*\. Set XDG_CACHE_HOME to .*\n$/,
  );
  const base = join(place, "file bin", "base");
  rmSync(cache);
  writeFileSync(base, "#!/nowhere/interpreter\n", { mode: 0o755 });
  const unstarted = call(directory, [], env);
  assert.equal(unstarted.status, 1);
  assert.match(unstarted.stderr, /once\ntrafficmock-proxy: Python cannot be started: spawn .* ENOENT\n$/);
});
