import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { runNode } from "../lib/child.mjs";

/** No proxy is there: whether a process is attached does not depend on it. */
const URL_OF_NONE = "http://127.0.0.1:1";
const IS_ATTACHED = `Object.getOwnPropertySymbols(globalThis).includes(Symbol.for("trafficmock.attached"))`;

/** @returns {Promise<{ stdout: string, stderr: string }>} what a program says that is installed in a project */
function run(file, words = [], env = {}) {
  const path = join(mkdtempSync(join(tmpdir(), "trafficmock-tool-")), file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `process.stdout.write(String(${IS_ATTACHED})); process.exit()`);
  const started = `const { spawnSync } = require("node:child_process");
    const { stdout, stderr } = spawnSync(process.execPath, ${JSON.stringify([path, ...words])}, { env: { ...process.env, NODE_OPTIONS: process.env.OPTIONS } });
    process.stdout.write(stdout); process.stderr.write(stderr)`;
  const preload = `--require "${join(import.meta.dirname, "../../register.js")}"`;
  return runNode(started, { preload: "", env: { TRAFFICMOCK_PROXY_URL: URL_OF_NONE, OPTIONS: preload, ...env } });
}

describe("a program that starts applications", () => {
  for (const file of [
    "node_modules/.bin/turbo",
    "node_modules/turbo/bin/turbo",
    "node_modules/concurrently/dist/bin/concurrently.js",
    "node_modules/.bin/concurrently",
    "node_modules/pm2/bin/pm2",
    "node_modules/.bin/pm2-runtime",
    "node_modules/pm2/lib/Daemon.js",
    "node_modules/nodemon/bin/nodemon.js",
  ]) {
    test(`is not attached itself: ${file}`, async () => {
      assert.equal((await run(file, [], { TURBO_ENV_MODE: "loose" })).stdout, "false");
    });
  }

  for (const file of [
    "node_modules/pm2/lib/ProcessContainer.js",
    "node_modules/pm2/lib/ProcessContainerFork.js",
    "node_modules/next/dist/bin/next",
    "turbo/server.js",
  ]) {
    test(`is attached if it becomes the application: ${file}`, async () => {
      assert.equal((await run(file)).stdout, "true");
    });
  }

  for (const [name, words, env] of [
    ["by default", ["run", "dev"], {}],
    ["by its variable", ["run", "dev"], { TURBO_ENV_MODE: "strict" }],
    ["by its option", ["run", "dev", "--env-mode=strict"], { TURBO_ENV_MODE: "loose" }],
    ["by its option in two words", ["run", "dev", "--env-mode", "strict"], { TURBO_ENV_MODE: "loose" }],
  ]) {
    test(`is named if it drops the variables ${name}`, async () => {
      const { stderr } = await run("node_modules/turbo/bin/turbo", words, env);
      assert.match(stderr, /^trafficmock: turbo starts its tasks without .* Use --env-mode=loose.*\n$/);
    });
  }

  for (const [words, env] of [
    [["run", "dev"], { TURBO_ENV_MODE: "loose" }],
    [["run", "dev", "--env-mode=loose"], {}],
  ]) {
    test(`is not named if it passes the variables on, ${words.at(-1)}`, async () => {
      assert.equal((await run("node_modules/turbo/bin/turbo", words, env)).stderr, "");
    });
  }
});

describe("the thread of module hooks, such as tsx's", () => {
  test("is not attached beside its process", async () => {
    const hooks = `export const initialize = ({ port }) => port.postMessage(${IS_ATTACHED})`;
    const code = `
      const { MessageChannel } = require("node:worker_threads");
      const { port1, port2 } = new MessageChannel();
      port1.once("message", (inHooks) => { console.log(JSON.stringify([${IS_ATTACHED}, inHooks])); process.exit() });
      require("node:module").register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)}, { data: { port: port2 }, transferList: [port2] });`;
    const { stdout, stderr } = await runNode(code, { env: { TRAFFICMOCK_PROXY_URL: URL_OF_NONE } });
    assert.deepEqual(JSON.parse(stdout || JSON.stringify(stderr)), [true, false]);
  });
});
