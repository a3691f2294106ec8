/* The examples of the documentation, run as a reader does but for the ports. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startProxy } from "../../../agent/test/lib/proxy.mjs";
import { freePort, makeProject, runProgram } from "../lib/project.mjs";

const MODULES = fileURLToPath(new URL("node_modules", import.meta.url));
const PYTHON = process.env.TRAFFICMOCK_TEST_PYTHON ?? "python3";

/** Copy an example into a project, with a port of its own for the shop. */
async function project(t, name) {
  const example = `docs/examples/${name}`;
  const { place, remove } = makeProject({ copied: [example] });
  t.after(remove);
  const port = String(await freePort());
  const folder = join(place, example);
  for (const file of readdirSync(folder)) {
    const path = join(folder, file);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll("3000", port));
  }
  symlinkSync(join(MODULES, "vitest"), join(place, "node_modules", "vitest"));
  return { folder, port, modules: join(place, "node_modules") };
}

const someProxy = async () => ({ TRAFFICMOCK_PROXY_URL: `http://127.0.0.1:${await freePort()}` });

test("Playwright", async (t) => {
  const { folder, modules } = await project(t, "playwright");
  const cli = join(modules, "@playwright/test/cli.js");
  const ended = await runProgram(folder, [process.execPath, cli, "test"], await someProxy());
  assert.equal(ended.status, 0, ended.output);
  assert.match(ended.output, /2 passed/);
});

test("Vitest", async (t) => {
  const { folder, modules } = await project(t, "vitest");
  const cli = join(modules, "vitest/vitest.mjs");
  const ended = await runProgram(folder, [process.execPath, cli, "run"], await someProxy());
  assert.equal(ended.status, 0, ended.output);
  assert.match(ended.output, /2 passed/);
});

test("Vitest, with a report of the tests that failed", async (t) => {
  const { folder, modules } = await project(t, "vitest");
  const path = join(folder, "prices.test.mjs");
  const wrong = readFileSync(path, "utf8").replace("no prices today", "out of stock");
  writeFileSync(path, wrong);
  const env = { ...(await someProxy()), TRAFFICMOCK_REPORT: "report" };
  const ended = await runProgram(folder, [process.execPath, join(modules, "vitest/vitest.mjs"), "run"], env);
  assert.equal(ended.status, 1, ended.output);
  const run = JSON.parse(readFileSync(join(folder, "report", "run.json"), "utf8"));
  assert.deepEqual(run.counts, { failed: 1, passed: 1 });
  assert.deepEqual(
    run.tests.map(({ title, outcome, requests }) => [title, outcome, requests.map(({ action }) => action)]),
    [["survives a price service that is down", "failed", ["abort"]]],
  );
  assert.equal(run.totals.requests.total, 2);
  assert.match(run.tests[0].error, /no prices today/);
  assert.match(run.tests[0].file, /prices\.test\.mjs$/);
  assert.match(run.tests[0].routes[0].place, /prices\.test\.mjs:\d+$/);
  assert.deepEqual(
    run.processes.map(({ ended, problem }) => [ended, problem]),
    run.processes.map(() => [true, undefined]),
  );
  assert.match(readFileSync(join(folder, "report", "index.html"), "utf8"), /survives a price service that is down/);
});

test("Node's runner", async (t) => {
  const { folder, port } = await project(t, "node-test");
  const proxy = await startProxy();
  t.after(() => proxy.stop());
  const env = { TRAFFICMOCK_PROXY_URL: proxy.url };
  const command = ["-m", "trafficmock", "run", "--client-id", "shop", "--", "node", "shop.mjs"];
  const shop = spawn(PYTHON, command, { cwd: folder, env: { ...process.env, NODE_OPTIONS: "", ...env } });
  t.after(async () => {
    shop.kill();
    await once(shop, "exit");
  });
  while (!(await fetch(`http://127.0.0.1:${port}`).catch(() => undefined))) {
    assert.equal(shop.exitCode, null);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const ended = await runProgram(folder, [process.execPath, "--test"], env);
  assert.equal(ended.status, 0, ended.output);
  assert.match(ended.output, /pass 3/);
});
