/* The fixtures with the oldest Playwright and others, with retries and repeats, and without isolation. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runFixtures } from "../lib/run-fixtures.mjs";

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
