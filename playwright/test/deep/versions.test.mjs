/* The fixtures with the oldest Playwright and others, with retries and repeats, without isolation, and in Vitest. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startProxy } from "../../../agent/test/lib/proxy.mjs";
import { makeProject } from "../lib/project.mjs";
import { runFixtures } from "../lib/run-fixtures.mjs";
import { startShop } from "../lib/shop.mjs";

const MODULES = fileURLToPath(new URL("node_modules", import.meta.url));
const PARALLEL = ["parallel.spec.mjs"];

for (const version of ["1.45", "1.55", "1.62"]) {
  test(`Playwright ${version}`, async () => {
    const playwright = join(MODULES, `playwright-${version}`);
    const ended = await runFixtures(PARALLEL, { WORKERS: "3", ROUNDS: "3" }, { playwright });
    assert.deepEqual(ended.failed, []);
    assert.equal(ended.passed.length, 9);
  });
}

test("repeats and shards", async () => {
  let passed = 0;
  for (const shard of ["1/2", "2/2"]) {
    const args = [...PARALLEL, "--repeat-each", "3", "--shard", shard];
    const ended = await runFixtures(args, { WORKERS: "3", ROUNDS: "2" });
    assert.deepEqual(ended.failed, []);
    passed += ended.passed.length;
  }
  assert.equal(passed, 18);
});

test("a retry begins anew", async () => {
  const ended = await runFixtures(["report.spec.mjs", "--retries", "1", "-g", "a handler throws"]);
  assert.equal(ended.failed.length, 1);
  assert.match(ended.failed[0], /^a handler throws: Error: no price today\nin the handler/);
});

test("without isolation they meet", async () => {
  const ended = await runFixtures(PARALLEL, { WORKERS: "3", ROUNDS: "3", ISOLATION: "off" });
  assert.match(ended.failed.join("\n"), /Ambiguous backend mock routing/);
});

test("Vitest", async () => {
  const proxy = await startProxy();
  const shop = await startShop(proxy.url);
  const project = makeProject();
  symlinkSync(join(MODULES, "vitest"), join(project.place, "node_modules", "vitest"));
  cpSync(join(project.place, "apps", "vitest-prices.mjs"), join(project.place, "prices.test.mjs"));
  const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", "run"], {
    cwd: project.place,
    env: { ...process.env, NODE_OPTIONS: "", TRAFFICMOCK_PROXY_URL: proxy.url, SHOP_URL: shop.url },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const [status] = await once(child, "close");
  project.remove();
  await shop.stop();
  await proxy.stop();
  assert.equal(status, 0, output);
  assert.match(output, /2 passed/);
});
