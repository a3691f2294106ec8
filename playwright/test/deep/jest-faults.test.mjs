/* Jest: a fault of trafficmock, or the end of its proxy, is an error of one test, never of the run or of a file. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startProxy } from "../../../agent/test/lib/proxy.mjs";
import { makeProject, runProgram } from "../lib/project.mjs";

const JEST = fileURLToPath(new URL("node_modules/jest", import.meta.url));
const ARGV = ["node_modules/jest/bin/jest.js", "--rootDir", ".", "--testRegex", "jest.cjs", "--testTimeout=20000"];
const WAYS = { "in workers": ["--maxWorkers=2"], "in one process": ["--runInBand"] };

/** What each file begins with. A method is broken for one call. */
const HEAD = `
const { dirname } = require("node:path");
const { connect } = require("trafficmock-playwright/core");
const PRICE = "http://shop.example/price";
const from = (name) => require(dirname(require.resolve("trafficmock-playwright")) + "/" + name);

function broken(owner, name) {
  const works = owner.prototype[name];
  owner.prototype[name] = () => {
    owner.prototype[name] = works;
    throw new Error("injected into " + name);
  };
}

async function begin() {
  const title = expect.getState().currentTestName;
  const mocks = await connect({ title, attachSelf: true });
  await mocks.mock(PRICE, { json: 3 });
  expect(await (await fetch(PRICE)).json()).toBe(3);
  return mocks;
}
`;

const PASSES = `${HEAD}
test("passes", async () => {
  const mocks = await begin();
  await mocks.end();
});
`;

const PASSING = `${PASSES}
test("leaves a stream open", async () => {
  const mocks = await begin();
  const chat = await mocks.stream("http://shop.example/chat", { contentType: "text/event-stream" });
  const asked = fetch("http://shop.example/chat");
  await chat.request();
  await chat.sse({ data: "one" });
  const reader = (await asked).body.getReader();
  expect((await reader.read()).done).toBe(false);
  await mocks.end();
});
test("passes after it", async () => {
  const mocks = await begin();
  await mocks.end();
});
`;

const FAULTS = `${HEAD}
const { WorkerConnection } = from("connection/worker-connection.js");
const { RunRecorder } = from("report/run-recorder.js");
test("judging", async () => {
  const mocks = await begin();
  await mocks.mock("http://shop.example/other", { json: {}, required: true });
  broken(WorkerConnection, "barrier");
  await mocks.end();
});
test("writing", async () => {
  const mocks = await begin();
  broken(RunRecorder, "write");
  await mocks.end();
  throw new Error("as wanted");
});
test("passes after them", async () => {
  const mocks = await begin();
  await mocks.end();
});
`;

const KILLED = `${HEAD}
test("its proxy is killed", async () => {
  const mocks = await begin();
  process.kill(Number(process.env.PROXY_PID), "SIGKILL");
  await expect(fetch(PRICE)).rejects.toThrow();
  await mocks.end();
});
test("has no proxy", async () => {
  const mocks = await begin();
  await mocks.end();
});
test("needs none", () => {});
`;

const NEEDS_NONE = `test("needs none, in another file", () => {});`;

/** Run files; give the outcomes of their tests, and the first lines of their errors. */
async function run(t, files, options) {
  const proxy = await startProxy();
  t.after(() => proxy.stop());
  const { place, remove } = makeProject({ files });
  t.after(remove);
  symlinkSync(JEST, join(place, "node_modules", "jest"));
  const env = {
    TRAFFICMOCK_PROXY_URL: proxy.url,
    TRAFFICMOCK_REPORT: "report",
    NO_COLOR: "1",
    PROXY_PID: String(proxy.process.pid),
  };
  const argv = [...ARGV, "--json", "--outputFile=results.json", ...options];
  const { status, output } = await runProgram(place, [process.execPath, ...argv], env);
  const results = JSON.parse(readFileSync(join(place, "results.json"), "utf8"));
  // A suite that ends by an error has no outcomes of tests.
  assert.equal(results.numRuntimeErrorTestSuites, 0, output);
  const ended = {};
  for (const { assertionResults } of results.testResults) {
    for (const { title, status: outcome, failureMessages } of assertionResults) {
      ended[title] = [outcome, ...failureMessages];
    }
  }
  const report = join(place, "report", "run.json");
  return { status, output, ended, report: existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : undefined };
}

const errorOf = ([outcome, text = ""]) => [outcome, text.split("\n", 1)[0]];

for (const [way, options] of Object.entries(WAYS)) {
  test(`a stream that is left open fails its test alone, ${way}`, async (t) => {
    const { status, output, ended, report } = await run(t, { "a.jest.cjs": PASSING, "b.jest.cjs": PASSING }, options);
    assert.equal(status, 1, output);
    assert.deepEqual(report.counts, { failed: 2, passed: 4 }, output);
    const left = errorOf(ended["leaves a stream open"]);
    assert.match(left.join(" "), /^failed RoutingError: .*ended while its streamed answer .* was open/);
    assert.deepEqual([ended.passes, ended["passes after it"]], [["passed"], ["passed"]]);
  });

  test(`faults, ${way}`, async (t) => {
    const { status, output, ended, report } = await run(t, { "a.jest.cjs": FAULTS, "b.jest.cjs": PASSES }, options);
    assert.equal(status, 1, output);
    assert.deepEqual(report.counts, { failed: 2, passed: 2 }, output);
    assert.match(errorOf(ended.judging).join(" "), /^failed Error: trafficmock failed to judge its routes.*barrier/);
    assert.deepEqual(errorOf(ended.writing), ["failed", "Error: as wanted"]);
    assert.deepEqual([ended["passes after them"], ended.passes], [["passed"], ["passed"]]);
    const problems = report.processes.flatMap(({ problem }) => problem ?? []);
    assert.match(problems.join(), /^trafficmock failed to report a test.*injected into write$/);
  });

  test(`the end of its proxy, ${way}`, async (t) => {
    const { status, output, ended } = await run(t, { "a.jest.cjs": KILLED, "b.jest.cjs": NEEDS_NONE }, options);
    assert.equal(status, 1, output);
    assert.match(errorOf(ended["its proxy is killed"]).join(" "), /^failed ConnectionError: Lost connection/);
    assert.match(errorOf(ended["has no proxy"]).join(" "), /^failed ConnectionError: Failed to connect/);
    assert.deepEqual([ended["needs none"], ended["needs none, in another file"]], [["passed"], ["passed"]]);
  });
}
