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
async function run({ proxy, place }, argv, { left = FILES, outcome = "unknown" } = {}) {
  const env = { TRAFFICMOCK_PROXY_URL: proxy.url, TRAFFICMOCK_REPORT: "report", NO_COLOR: "1" };
  const ended = await runProgram(place, [process.execPath, ...argv], env);
  assert.equal(ended.status, 0, ended.output);
  const { entries } = await proxy.get("/api/history?q=audit.example");
  assert.deepEqual(
    entries.map(({ late }) => late),
    Array(left).fill(true),
  );
  if (left) assertReported(place, outcome);
  return ended;
}

/** A report has all tests whose processes do not say how they have ended. */
function assertReported(place, outcome) {
  const directory = join(place, "report");
  if (!existsSync(join(directory, "index.html"))) {
    // Threads are ended without notice.
    execFileSync(PYTHON, ["-m", "trafficmock", "report", "merge", directory, "--output", directory], { cwd: CHECKOUT });
  }
  const { counts, processes, tests } = reportOf(place);
  assert.deepEqual(Object.keys(counts), [outcome]);
  assert.ok(counts[outcome] >= FILES * 6, `${counts[outcome]} tests`);
  assert.equal(tests.length, outcome === "unknown" ? counts.unknown : 0);
  for (const { ended, problem } of processes) assert.deepEqual([ended, problem], [true, undefined]);
}

const reportOf = (place) => JSON.parse(readFileSync(join(place, "report", "run.json"), "utf8"));

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
  const WAYS = { "in workers": [`--maxWorkers=${FILES}`], "in one process": ["--runInBand"] };
  for (const [way, options] of Object.entries(WAYS)) {
    test(way, async (t) => {
      const ended = await run(await project(t, "jest.test.cjs"), [...argv, ...options], { outcome: "passed" });
      assert.match(ended.output, new RegExp(`Test Suites: +${FILES} passed`));
    });

    test(`its report has the tests that failed, ${way}`, async (t) => {
      const { proxy, place } = await project(t, "failing.jest.test.cjs", 2);
      const env = { TRAFFICMOCK_PROXY_URL: proxy.url, TRAFFICMOCK_REPORT: "report", NO_COLOR: "1" };
      const ended = await runProgram(place, [process.execPath, ...argv, ...options], env);
      assert.equal(ended.status, 1, ended.output);
      const { counts, tests } = reportOf(place);
      assert.deepEqual(counts, { failed: 2 * 7, passed: 2 * 5 }, ended.output);
      const found = tests.map(({ title, retry, error, requests }) => [
        title,
        retry,
        error.split("\n", 1)[0],
        requests.length,
      ]);
      const twice = [
        ["concurrently fails", "Error: as wanted"],
        ["ends in its function, and fails", "Error: as wanted"],
        ["fails", "Error: as wanted"],
        ["fails by a hook", "Error: in a hook"],
        [
          "fails by its mocks",
          "RoutingError: GET http://shop.example/price is not mocked, and strict mode allows nothing.",
        ],
        ["fails by its number of assertions", "Error: expect.assertions(2)"],
      ];
      const wanted = [
        ...twice.flatMap(([title, error]) => [0, 1].map((retry) => [title, retry, error, 1])),
        ["fails once", 0, "Error: as wanted", 1],
        ["is said to have failed", undefined, "Error: said", 1],
      ];
      assert.deepEqual(found.sort(), [...wanted, ...wanted].sort());
    });
  }
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
  const ended = await run({ proxy, place }, ["--test"], { left: 0 });
  assert.match(ended.output, /tests 2\n/);
});
