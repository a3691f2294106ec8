/* Applications in the process of their tests, in every runner, with parallel workers on one proxy. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startProxy } from "../../../agent/test/lib/proxy.mjs";
import { makeProject, runProgram } from "../lib/project.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const APP = join(HERE, "in-process-app");
const CHECKOUT = join(HERE, "..", "..", "..");
const PYTHON = process.env.TRAFFICMOCK_TEST_PYTHON ?? "python3";
const LIBRARIES = ["axios", "express", "fastify", "jest", "msw", "nock", "supertest", "vitest"];
/** The files that run at the same time, all with the same tests. */
const FILES = 4;
const TEST_MS = 60_000;

/** A project with the shop, the cases and the file of a runner, several times, and a proxy for it. */
async function project(t, file, files = FILES) {
  const proxy = await startProxy();
  t.after(() => proxy.stop());
  const { place, remove } = makeProject();
  t.after(remove);
  for (const name of LIBRARIES) symlinkSync(join(HERE, "node_modules", name), join(place, "node_modules", name));
  for (const name of ["shop.cjs", "cases.cjs"]) copyFileSync(join(APP, name), join(place, name));
  for (let n = 1; n <= files; n += 1) copyFileSync(join(APP, file), join(place, `n${n}.${file}`));
  return { proxy, place };
}

/** Run a project, whose work after the end of a test is that test's; its report is whole. */
async function run({ proxy, place }, argv, left = FILES) {
  const env = { TRAFFICMOCK_PROXY_URL: proxy.url, TRAFFICMOCK_REPORT: "report", NO_COLOR: "1" };
  const ended = await runProgram(place, [process.execPath, ...argv], env);
  assert.equal(ended.status, 0, ended.output);
  const { entries } = await proxy.get("/api/history?q=audit.example");
  assert.deepEqual(
    entries.map(({ late }) => late),
    Array(left).fill(true),
  );
  if (left) assertReported(place);
  return ended;
}

/** The processes do not say how their tests have ended, so the report has all of them. */
function assertReported(place) {
  const directory = join(place, "report");
  if (!existsSync(join(directory, "index.html"))) {
    // Threads are ended without notice.
    execFileSync(PYTHON, ["-m", "trafficmock", "report", "merge", directory, "--output", directory], { cwd: CHECKOUT });
  }
  const { counts, processes, tests } = JSON.parse(readFileSync(join(directory, "run.json"), "utf8"));
  assert.deepEqual(counts, { unknown: tests.length });
  assert.ok(tests.length >= FILES * 6, `${tests.length} tests`);
  for (const { ended, problem } of processes) assert.deepEqual([ended, problem], [true, undefined]);
}

test("Node's runner", async (t) => {
  await run(await project(t, "node.test.mjs"), ["--test", `--test-concurrency=${FILES}`]);
});

describe("Vitest", () => {
  for (const pool of ["threads", "forks"]) {
    test(pool, async (t) => {
      const made = await project(t, "vitest.test.mjs");
      const workers = [`--pool=${pool}`, `--maxWorkers=${FILES}`, `--testTimeout=${TEST_MS}`];
      const ended = await run(made, ["node_modules/vitest/vitest.mjs", "run", ...workers]);
      assert.match(ended.output, new RegExp(`Test Files +${FILES} passed`));
    });
  }
});

describe("Jest", () => {
  const argv = [
    "node_modules/jest/bin/jest.js",
    "--rootDir",
    ".",
    "--testRegex",
    "jest.test.cjs",
    `--testTimeout=${TEST_MS}`,
  ];
  test("in workers", async (t) => {
    const ended = await run(await project(t, "jest.test.cjs"), [...argv, `--maxWorkers=${FILES}`]);
    assert.match(ended.output, new RegExp(`Test Suites: +${FILES} passed`));
  });

  test("one file after the other, in one process", async (t) => {
    await run(await project(t, "jest.test.cjs"), [...argv, "--runInBand"]);
  });
});

// nock needs it.
const skip = !("withResolvers" in Promise) && "needs Node 22";
test("the tests of other libraries on the page of the documentation pass", { skip }, async (t) => {
  const { proxy, place } = await project(t, "node.test.mjs", 0);
  const examples = fileURLToPath(new URL("../../../docs/examples", import.meta.url));
  copyFileSync(join(examples, "in-process-node", "shop.mjs"), join(place, "shop.mjs"));
  const compared = join(examples, "in-process-compared");
  for (const name of readdirSync(compared)) copyFileSync(join(compared, name), join(place, name));
  writeFileSync(join(place, "package.json"), '{ "type": "module" }');
  const ended = await run({ proxy, place }, ["--test"], 0);
  assert.match(ended.output, /tests 2\n/);
});
