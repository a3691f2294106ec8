/* What a configuration asks the command `trafficmock` for, in each process that reads it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";

const CONFIG = fileURLToPath(new URL("../config.mjs", import.meta.url));
const INHERITED = JSON.stringify([
  "--input-type=module",
  "--eval",
  `import { attached, proxyServer } from ${JSON.stringify(CONFIG)};
   proxyServer();
   process.stdout.write(attached({ clientId: "shop" }).TRAFFICMOCK_CLIENT_ID);`,
]);
const PYTHON = process.env.TRAFFICMOCK_TEST_PYTHON ?? "python3";
let place;
let calls;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "trafficmock-config-"));
  calls = join(place, "calls");
  // Writes down each call, and answers `env` with the client id and the token.
  writeFileSync(
    join(place, "trafficmock"),
    `#!/bin/sh
echo "$*" >> '${calls}'
for word; do id=$word; done
echo "{\\"TRAFFICMOCK_CLIENT_ID\\": \\"$id\\", \\"TRAFFICMOCK_TOKEN\\": \\"$TRAFFICMOCK_TOKEN\\"}"
`,
    { mode: 0o755 },
  );
});

afterEach(() => rmSync(place, { recursive: true }));

/** Run a module that has the configuration's functions; the calls of the command so far. */
function run(script, env = {}) {
  const said = execFileSync(
    process.execPath,
    ["--input-type=module", "--eval", `import { attached, proxyServer } from ${JSON.stringify(CONFIG)};\n${script}`],
    { encoding: "utf8", env: { ...process.env, PATH: `${place}${delimiter}${process.env.PATH}`, ...env } },
  );
  const called = existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [];
  return { said, called: called.map((line) => line.split(" ")[0]) };
}

test("the processes of a run ask once", () => {
  const { said, called } = run(`
    import { execFileSync } from "node:child_process";
    proxyServer();
    process.stdout.write(attached({ clientId: "shop" }).TRAFFICMOCK_CLIENT_ID);
    attached({ clientId: "shop" });
    process.stdout.write(execFileSync(process.execPath, ${INHERITED}, { encoding: "utf8" }));`);
  assert.equal(said, "shopshop");
  assert.deepEqual(called, ["--version", "env"]);
});

test("a Python application gets its preload, by the real command", () => {
  const { said } = run(
    `const { PYTHONPATH, TRAFFICMOCK_PROXY_URL } = attached({ proxyUrl: "http://127.0.0.1:9", args: ["--no-agent"] });
     process.stdout.write(TRAFFICMOCK_PROXY_URL + " " + PYTHONPATH);`,
    {
      PATH: `${dirname(PYTHON)}${delimiter}${process.env.PATH}`,
      PYTHONPATH: "own",
      XDG_DATA_HOME: join(place, "data"),
    },
  );
  const [url, preload, ...others] = said.split(/[ :](?!\/\/|9)/);
  assert.equal(url, "http://127.0.0.1:9");
  assert.ok(existsSync(join(preload, "sitecustomize.py")), said);
  assert.deepEqual(others, ["own"]);
});

test("another application has another environment", () => {
  const { said, called } = run(`
    for (const clientId of ["shop", "stock", "shop"]) {
      process.stdout.write(attached({ clientId }).TRAFFICMOCK_CLIENT_ID);
    }`);
  assert.equal(said, "shopstockshop");
  assert.deepEqual(called, ["--version", "env", "env"]);
});

test("a token of the configuration does not get into the environment", () => {
  const { called } = run(`
    for (const _ of [1, 2]) {
      if (attached({ token: "hush", clientId: "shop" }).TRAFFICMOCK_TOKEN !== "hush") throw new Error("it is not there");
    }
    if (JSON.stringify(process.env).includes('hush')) throw new Error("it did");`);
  assert.deepEqual(called, ["--version", "env", "env"]);
});

test("where trafficmock is missing, it says what to install", () => {
  const wanted =
    /nor python3 -m trafficmock is there: install trafficmock \(Python 3\.11 or later\) where the tests run/;
  assert.throws(() => run("proxyServer();", { PATH: place.concat("-missing") }), wanted);
});

test("the address of the proxy is told once", () => {
  const { said } = run(
    `
    import { execFileSync } from "node:child_process";
    const url = "http://127.0.0.1:4444";
    const words = proxyServer({ proxyUrl: url + "/" }).command;
    process.stdout.write(words.slice(words.indexOf("--host")) + " " + proxyServer().url + " ");
    process.stdout.write(execFileSync(process.execPath, ["--eval", "process.stdout.write(process.env.TRAFFICMOCK_PROXY_URL)"]));
    attached({ proxyUrl: "http://127.0.0.1:5555" });
    process.stdout.write(" " + proxyServer().url);`,
    { TRAFFICMOCK_PROXY_URL: "http://127.0.0.1:1" },
  );
  const [port, url] = ["--host 127.0.0.1 --port 4444", "http://127.0.0.1:4444"];
  assert.equal(said, `${port} ${url}/health ${url} http://127.0.0.1:5555/health`);
});

test("a proxy that is strict from its start allows what the tests do", () => {
  const { said } = run(`
    process.stdout.write(proxyServer({ strict: { allow: ["auth.example", "**/health"] }, args: ["--local", "off"] }).command);
    process.stdout.write(proxyServer({ strict: {} }).command);
    process.stdout.write(proxyServer().command);`);
  const started = "trafficmock serve --host 127.0.0.1 --port 4310";
  const allowed = "--strict --allow auth.example --allow '**/health' --local off";
  assert.equal(said, `${started} ${allowed}${started} --strict${started}`);
});
