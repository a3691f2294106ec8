/* A fault in a fixture, hook or reporter of trafficmock is an error of one test, never of the run. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { connect } from "trafficmock-playwright/core";
import { startProxy } from "../../agent/test/lib/proxy.mjs";
import { makeProject } from "./lib/project.mjs";

const require = createRequire(import.meta.url);
const { WorkerConnection } = require("../src/connection/worker-connection.js");
const { TestErrors } = require("../src/session/test-errors.js");

let proxy;
before(async () => {
  proxy = await startProxy();
});
after(() => proxy.stop());

const SPEC = `
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { expect, test } from "trafficmock-playwright";

const require = createRequire(import.meta.url);
const SOURCE = dirname(require.resolve("trafficmock-playwright"));
const { WorkerConnection } = require(SOURCE + "/connection/worker-connection.js");
const { RunRecorder } = require(SOURCE + "/report/run-recorder.js");

/** Break a method until the end of the next test. */
function broken(owner, name, t) {
  const works = owner.prototype[name];
  owner.prototype[name] = () => {
    owner.prototype[name] = works;
    throw new Error("injected into " + name);
  };
}

test("judging", async ({ trafficmock }) => {
  await trafficmock.mock("http://api.test/", { json: {}, required: true });
  broken(WorkerConnection, "barrier");
});

test("writing", async ({ trafficmock }) => {
  broken(RunRecorder, "write");
  expect(1).toBe(2);
});

test("last", async ({ trafficmock }) => {
  // A route that an earlier test has left would be ambiguous.
  await trafficmock.mock("http://api.test/", { json: {} });
});
`;

const CONFIG = `
import { createRequire } from "node:module";
import { dirname } from "node:path";
const require = createRequire(import.meta.url);
const SOURCE = dirname(require.resolve("trafficmock-playwright"));
const { ServerOutput } = require(SOURCE + "/report/server-output.js");
ServerOutput.prototype.since = () => {
  throw new Error("injected into since");
};
export default { workers: 1, reporter: [["trafficmock-playwright/reporter"], ["json", { outputFile: "results.json" }]] };
`;

test("in Playwright", async (t) => {
  const { place, run, remove } = makeProject({ files: { "a.spec.mjs": SPEC, "playwright.config.mjs": CONFIG } });
  t.after(remove);
  const { status, output } = await run([], { TRAFFICMOCK_PROXY_URL: proxy.url });
  assert.equal(status, 1, output);
  const { suites } = JSON.parse(readFileSync(join(place, "results.json"), "utf8"));
  const ended = Object.fromEntries(
    suites[0].specs.map(({ title, tests: [{ results }] }) => [title, results[0].errors.map(({ message }) => message)]),
  );
  assert.match(ended.judging.join(), /trafficmock failed to judge its routes.*injected into barrier/);
  assert.match(ended.writing.join(), /trafficmock failed to report a test.*injected into write/);
  assert.deepEqual(ended.last, []);
  assert.match(output, /the trafficmock report is not complete: trafficmock failed to attach the output of a server/);
});

test("in other runners: the test ends all the same", async (t) => {
  const mocks = await connect({ title: "first", proxyUrl: proxy.url });
  await mocks.mock("http://api.test/", { required: true });
  const break_ = t.mock.method(WorkerConnection.prototype, "barrier", () => {
    throw new Error("injected");
  });
  await assert.rejects(mocks.end(), /trafficmock failed to judge its routes.*injected/);
  break_.mock.restore();
  const { tests } = await (await fetch(new URL("/api/connections", proxy.url))).json();
  assert.deepEqual(tests ?? [], []);
});

test("our own fixtures are no steps of a test", async (t) => {
  const spec = `
    import { test } from "trafficmock-playwright";
    test("has steps", async ({ trafficmock, request }) => {
      await trafficmock.mock("http://api.test/", { json: {} });
    });`;
  const config = `export default { reporter: [["./steps.cjs"]] };`;
  const reporter = `
    module.exports = class {
      onTestEnd(_, { steps }) {
        const all = (step) => [step.title, ...step.steps.flatMap(all)];
        console.log("STEPS " + JSON.stringify(steps.flatMap(all)));
      }
    };`;
  const files = { "a.spec.mjs": spec, "playwright.config.mjs": config, "steps.cjs": reporter };
  const { run, remove } = makeProject({ files });
  t.after(remove);
  const { output } = await run([], { TRAFFICMOCK_PROXY_URL: proxy.url });
  const steps = JSON.parse(/STEPS (.*)/.exec(output)?.[1] ?? "[]");
  const ours = steps.filter((title) => /^Fixture "_?(trafficmock|backendMocks)/.test(title));
  assert.deepEqual(ours, [], output);
});

test("any value that a handler throws is an error of its test", () => {
  const unreadable = {
    get() {
      throw new Error("cannot be read");
    },
  };
  const values = [
    undefined,
    Symbol("odd"),
    Object.create(null),
    { toString: () => ({}) },
    Object.defineProperty(new Error("x"), "message", unreadable),
    Object.defineProperty(new Error("x"), "stack", unreadable),
    Object.assign(new Error("x"), { message: {} }),
    new Proxy({}, { getPrototypeOf: unreadable.get }),
  ];
  for (const value of values) {
    const errors = new TestErrors();
    assert.equal(typeof errors.thrown(value, "in the handler"), "string");
    const [error] = errors.take();
    assert.match(error.message, /in the handler$/);
    assert.equal(errors.count, 0);
  }
});
