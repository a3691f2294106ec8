/* The reporter in the real Playwright: one report of all workers, in which secrets are marks. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startProxy } from "../../agent/test/lib/proxy.mjs";
import { freePort, makeProject, runProgram } from "./lib/project.mjs";

const require = createRequire(import.meta.url);
const Reporter = require("../src/reporter.js");
const { redactedText } = require("../src/report/redacted-text.js");
const { reportSettings } = require("../src/settings.js");

/** The proxy of the tests that start none. */
let proxy;
before(async () => {
  proxy = await startProxy();
});
after(() => proxy.stop());

const CALL = `
import http from "node:http";

const proxy = new URL(process.env.TRAFFICMOCK_PROXY_URL);

/** Ask through the forward proxy. */
export const ask = (url) =>
  new Promise((resolve, reject) => {
    const headers = { host: new URL(url).host, authorization: "Bearer hush-hush-hush-12345" };
    const asked = http.get({ host: proxy.hostname, port: proxy.port, path: url, headers }, (answer) => {
      answer.resume().on("end", resolve);
    });
    asked.on("error", reject);
  });
`;

const SPEC = `
import { test } from "trafficmock-playwright";
import { ask } from "./call.mjs";

test("passes", async ({ trafficmock }) => {
  await trafficmock.mock("http://one.test/", { json: {} });
  await ask("http://one.test/");
});

/** Secrets by the name of a field, by a form, within a URL, and by the words of the variable. */
const SECRET =
  "cust_hush-hush-hush/sk_live_hushhushhush1?token=hush-hush&shop=hush-hush&next=" +
  encodeURIComponent("https://h.test/?api_key=hush-hush");

test("is flaky", async ({ trafficmock }, { retry }) => {
  await trafficmock.mock("http://three.test/**", { json: { price: 1 } });
  await ask("http://three.test/" + SECRET);
  await ask("http://127.0.0.1:9/" + SECRET).catch(() => {});
  if (!retry) throw new Error("refused with Bearer hush-hush-hush-12345");
});
`;

const MARKS = /\[redacted:\w{8}\]/g;
const REDACTED =
  "http://three.test/[redacted]/[redacted]?token=[redacted]&shop=[redacted]&next=https%3A%2F%2Fh.test%2F%3Fapi_key%3D[redacted]";

const CONFIG = `
import { defineConfig } from "@playwright/test";
import { proxyServer } from "trafficmock-playwright/config";

export default defineConfig({
  testDir: ".",
  retries: 1,
  workers: 2,
  fullyParallel: true,
  reporter: [["trafficmock-playwright/reporter", { outputFolder: "report" }]],
  webServer: proxyServer(),
});
`;

test("the reporter writes one report of all workers and retries", async () => {
  const config = CONFIG.replace('reporter: [["', 'reporter: [["json"], ["');
  const files = { "call.mjs": CALL, "a.spec.mjs": SPEC, "playwright.config.mjs": config };
  const project = makeProject({ files });
  try {
    const env = {
      TRAFFICMOCK_PROXY_URL: `http://127.0.0.1:${await freePort()}`,
      PLAYWRIGHT_JSON_OUTPUT_NAME: "tests.json",
      TRAFFICMOCK_REPORT_REDACT: "query:shop regex:cust_[a-z0-9-]+",
    };
    const { status, output } = await project.run([], env);
    assert.equal(status, 0, output);
    assert.match(output, /trafficmock report: report\/index\.html\n/);
    const place = join(project.place, "report");
    const text = readFileSync(join(place, "run.json"), "utf8");
    const run = JSON.parse(text);
    assert.deepEqual(run.counts, { passed: 2 });
    const told = run.tests.map(({ title, outcome, retry = 0, requests }) => [title, outcome, retry, requests.length]);
    assert.deepEqual(told, [["is flaky", "failed", 0, 1]]);
    const [failed] = run.tests;
    assert.equal(`${failed.file}:${failed.line}`, "a.spec.mjs:15");
    assert.match(failed.routes[0].place, /^a\.spec\.mjs:16$/);
    // A report is read on another machine than that of the run.
    assert.equal(failed.requests[0].path, "a.spec.mjs");
    assert.match(failed.error, /refused with Bearer \[redacted:/);
    assert.equal(run.totals.requests.decisions.passthrough, 2);
    assert.deepEqual(
      run.unowned.requests.map(({ request }) => request.url.replace(MARKS, "[redacted]")),
      Array(2).fill(REDACTED.replace("three.test", "127.0.0.1:9")),
    );
    const page = readFileSync(join(place, "index.html"), "utf8");
    const hars = readdirSync(join(place, "har")).map((name) => readFileSync(join(place, "har", name), "utf8"));
    assert.equal(hars.length, 1);
    // Playwright's own reports have steps and errors, with the same marks. The error that a test throws is its own.
    const steps = readFileSync(join(project.place, "tests.json"), "utf8").replaceAll(
      /refused with Bearer hush[-\w]+/g,
      "",
    );
    assert.equal(steps.replaceAll(MARKS, "[redacted]").split(`"trafficmock: GET ${REDACTED} (fulfilled)"`).length, 3);
    assert.doesNotMatch([text, page, steps, ...hars].join(), /hush-?hush/);
  } finally {
    project.remove();
  }
});

const LATE_SPEC = `
import { test as base } from "trafficmock-playwright";
import { ask } from "./call.mjs";

const test = base.extend({
  database: async ({}, use) => {
    await use();
    throw new Error("rows are left, Bearer hush-hush-hush-12345");
  },
  slow: async ({}, use, { setTimeout }) => {
    await use();
    setTimeout(500);
    await new Promise(() => {});
  },
});

for (const fixture of ["database", "slow"]) {
  test.describe(fixture, () => {
    test.use({ [fixture === "slow" ? "database" : "slow"]: ({}, use) => use() });
    test("passes but for the end", async ({ database, slow, trafficmock }) => {
      // The tests run at the same time, and their requests carry no context.
      await trafficmock.mock(\`http://\${fixture}.test/\`, { json: {} });
      await ask(\`http://\${fixture}.test/\`);
    });
  });
}
`;

test("a test that only the end of an earlier fixture fails is in the reports as failed", async () => {
  const config = CONFIG.replace("retries: 1", "retries: 0").replace('reporter: [["', 'reporter: [["json"], ["');
  const files = { "call.mjs": CALL, "a.spec.mjs": LATE_SPEC, "playwright.config.mjs": config };
  const project = makeProject({ files });
  try {
    const proxyUrl = `http://127.0.0.1:${await freePort()}`;
    const env = { TRAFFICMOCK_PROXY_URL: proxyUrl, PLAYWRIGHT_JSON_OUTPUT_NAME: "tests.json" };
    const { status, output } = await project.run([], env);
    assert.equal(status, 1, output);
    const run = JSON.parse(readFileSync(join(project.place, "report", "run.json"), "utf8"));
    assert.deepEqual(run.counts, { failed: 2 });
    const told = run.tests.map(({ title, outcome, requests }) => [title, outcome, requests.length]).sort();
    assert.deepEqual(told, [
      ["database › passes but for the end", "failed", 1],
      ["slow › passes but for the end", "failed", 1],
    ]);
    const errors = run.tests.map(({ error }) => error).sort();
    assert.match(errors[0], /rows are left, Bearer \[redacted:/);
    assert.match(errors[1], /[Tt]imeout/);
    const text = readFileSync(join(project.place, "tests.json"), "utf8");
    assert.equal(text.match(/"name": "server-traffic.html"/g)?.length, 2, text);
  } finally {
    project.remove();
  }
});

const NODE_TEST = `
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { connect } from "trafficmock-playwright/core";
import { ask } from "./call.mjs";

for (const [title, options] of [["passes", { failed: false }], ["fails", { failed: true, error: new Error("wrong") }], ["unknown", {}]]) {
  test(title, async () => {
    const mocks = await connect({ title, file: fileURLToPath(import.meta.url) });
    await mocks.mock(\`http://\${title}.test/\`, { json: {} });
    await ask(\`http://\${title}.test/\`);
    await mocks.end(options);
  });
}
`;

test("tests of other runners say how they ended, and are in the report where the variable is set", async () => {
  const project = makeProject({ files: { "call.mjs": CALL, "a.test.mjs": NODE_TEST } });
  try {
    const env = { TRAFFICMOCK_REPORT: "report", TRAFFICMOCK_PROXY_URL: proxy.url };
    const { output } = await runProgram(project.place, [process.execPath, "--test", "a.test.mjs"], env);
    const place = join(project.place, "report", "run.json");
    assert.ok(existsSync(place), output);
    const { counts, tests } = JSON.parse(readFileSync(place, "utf8"));
    assert.deepEqual(counts, { failed: 1, passed: 1, unknown: 1 });
    assert.deepEqual(
      tests.map(({ title, file, outcome, requests }) => [title, file, outcome, requests.map(({ path }) => path)]),
      [
        ["fails", "a.test.mjs", "failed", ["a.test.mjs"]],
        ["unknown", "a.test.mjs", "unknown", ["a.test.mjs"]],
      ],
    );
  } finally {
    project.remove();
  }
});

test("a report that cannot be written is said, and fails no test", async () => {
  const removal = "\nafter(() => rmSync('report', { recursive: true }));\n";
  const imports = 'import { rmSync } from "node:fs"; import { after } from "node:test";\n';
  const project = makeProject({ files: { "call.mjs": CALL, "a.test.mjs": imports + NODE_TEST + removal } });
  try {
    const env = { TRAFFICMOCK_REPORT: "report", TRAFFICMOCK_PROXY_URL: proxy.url };
    const { status, output } = await runProgram(project.place, [process.execPath, "a.test.mjs"], env);
    assert.match(output, /trafficmock: the report is not complete: ENOENT/);
    assert.equal(status, 0, output);
  } finally {
    project.remove();
  }
});

test("a report of data of another version is refused, and one that nobody can make is left as data", async () => {
  const project = makeProject({ files: { "call.mjs": CALL, "a.test.mjs": NODE_TEST } });
  try {
    const data = join(project.place, "report", "data");
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, "other-1.jsonl"), '{"type":"begin"}\n{"type":"test","test":{"id":"t"}}\n');
    const env = { TRAFFICMOCK_REPORT: "report", TRAFFICMOCK_PROXY_URL: proxy.url };
    const argv = [process.execPath, "a.test.mjs"];
    const refused = await runProgram(project.place, argv, env);
    assert.equal(refused.status, 0, refused.output);
    assert.match(refused.output, /not complete: .*other-1\.jsonl has data of another version of trafficmock, or/);
    assert.ok(!existsSync(join(project.place, "report", "run.json")));
    const gone = [{ proxyUrl: "http://127.0.0.1:9" }];
    const maker = `process.chdir(${JSON.stringify(project.place)});
      process.env.PATH = "";
      const { makeReport } = require(${JSON.stringify(require.resolve("../src/report/report-maker.js"))});
      console.log(makeReport(process.cwd() + "/report", ${JSON.stringify(JSON.stringify(gone))}));`;
    const { output } = await runProgram(project.place, [process.execPath, "-e", maker], {});
    assert.match(output, /^no proxy answers, and neither the command trafficmock nor .* is there: install/);
    assert.match(output, /; then trafficmock report merge report --output report makes the page\n$/);
  } finally {
    project.remove();
  }
});

test("a word that is no field is an error, and no traffic is written with fewer marks than asked", async () => {
  const project = makeProject({ files: { "call.mjs": CALL, "a.test.mjs": NODE_TEST } });
  try {
    const variables = { TRAFFICMOCK_REPORT: "report", TRAFFICMOCK_REPORT_REDACT: "heder:x" };
    const env = { ...variables, TRAFFICMOCK_PROXY_URL: proxy.url };
    await runProgram(project.place, [process.execPath, "--test", "a.test.mjs"], env);
    const { tests } = JSON.parse(readFileSync(join(project.place, "report", "run.json"), "utf8"));
    assert.equal(tests.length, 2);
    for (const { missing, requests } of tests) {
      assert.match(missing, /'heder:x' is none of header:NAME/);
      assert.deepEqual(requests, []);
    }
  } finally {
    project.remove();
  }
});

test("what a webServer writes while a test runs is attached to it, if it fails", async (t) => {
  const port = await freePort();
  const server = `
    require("node:http").createServer((request, response) => {
      console.log("asked " + request.url);
      console.error("\\x1b[31mwrong " + request.url + "\\x1b[0m");
      console.log(JSON.stringify({ token: { value: "hush-hush-1" }, customer: "ada-4711" }));
      response.end();
    }).listen(${port}, "127.0.0.1");`;
  const config = `
    export default {
      workers: 1,
      reporter: [["trafficmock-playwright/reporter"], ["json", { outputFile: "results.json" }], ["html", { open: "never" }]],
      webServer: { name: "shop", command: "node server.cjs", port: ${port}, stdout: "pipe" },
    };`;
  const spec = `
    import { expect, test } from "@playwright/test";
    import { test as mocked } from "trafficmock-playwright";
    const ask = async (path) => {
      await (await fetch("http://127.0.0.1:${port}" + path)).text();
      await new Promise((resolve) => setTimeout(resolve, 500));
    };
    test("passes", () => ask("/fine"));
    mocked("fails", async ({ trafficmock }) => {
      await ask("/cart");
      expect(1).toBe(2);
    });
    test("is to fail", async () => {
      test.fail();
      await ask("/known");
      expect(1).toBe(2);
    });`;
  const files = { "a.spec.mjs": spec, "playwright.config.mjs": config, "server.cjs": server };
  const { place, run, remove } = makeProject({ files });
  t.after(remove);
  const redact = { TRAFFICMOCK_REPORT_REDACT: "json:customer" };
  const { status, output } = await run([], { ...redact, TRAFFICMOCK_PROXY_URL: proxy.url });
  assert.equal(status, 1, output);
  const { suites } = JSON.parse(readFileSync(join(place, "results.json"), "utf8"));
  const found = ({ tests }) => tests[0].results[0].attachments.filter(({ name }) => name.startsWith("webServer"));
  const attached = Object.fromEntries(suites[0].specs.map((spec) => [spec.title, found(spec)]));
  assert.deepEqual([attached.passes, attached["is to fail"]], [[], []]);
  const [written, ...others] = attached.fails;
  assert.deepEqual([written.name, others], ["webServer output during this test", []]);
  const text = Buffer.from(written.body, "base64").toString();
  assert.match(text, /\[shop\] asked \/cart/);
  assert.match(text, /\[shop\] wrong \/cart/);
  assert.match(text, /\[shop\] \{"token":\{"value":"\[redacted:\w+\]"\},"customer":"\[redacted:\w+\]"\}/);
  assert.doesNotMatch(text, /fine|known|hush|4711/);
  const report = JSON.parse(readFileSync(join(place, "trafficmock-report", "run.json"), "utf8"));
  assert.deepEqual(
    report.tests.map(({ title, sections }) => [title, sections]),
    [["fails", [{ title: "webServer output during this test", text }]]],
  );
});

test("without the proxy, what a webServer writes is not attached, unless nothing is to be redacted", (t) => {
  t.after(() => delete process.env.TRAFFICMOCK_REPORT_REDACT);
  const proxy = { proxyUrl: "http://127.0.0.1:9" };
  assert.match(redactedText("token=hush", proxy), /^\(the proxy could not remove its secrets: .*ECONNREFUSED/);
  process.env.TRAFFICMOCK_REPORT_REDACT = "off";
  assert.equal(redactedText("token=hush", proxy), "token=hush");
});

test("wrong options and variables are refused", (t) => {
  t.after(() => {
    for (const name of ["", "_MODE", "_BODY_BYTES", "_HAS_REPORTER"]) delete process.env[`TRAFFICMOCK_REPORT${name}`];
  });
  assert.throws(() => new Reporter({ folder: "x" }), {
    name: "UsageError",
    message: /outputFolder and mode, not folder/,
  });
  process.env.TRAFFICMOCK_REPORT = "x";
  process.env.TRAFFICMOCK_REPORT_MODE = "always";
  assert.throws(reportSettings, { name: "UsageError", message: /retain-on-failure, on, off; not "always"/ });
  process.env.TRAFFICMOCK_REPORT_MODE = "off";
  assert.equal(reportSettings(), undefined);
  process.env.TRAFFICMOCK_REPORT_MODE = "";
  process.env.TRAFFICMOCK_REPORT_BODY_BYTES = "many";
  assert.throws(reportSettings, { name: "UsageError", message: /a number from 0 to 8388608, not "many"/ });
});

const STRICT_CALL = CALL.replace('authorization: "Bearer hush-hush-hush-12345"', "");

const STRICT_SPEC = `
import { test as base } from "trafficmock-playwright";
import { ask } from "./call.mjs";

const polled = async ({ trafficmockRun }, use) => {
  await ask("http://polled.test/");
  await trafficmockRun.mock("http://polled.test/", { json: {} });
  await use();
};
const test = base.extend({ polled: [polled, { scope: "worker", auto: true }] });

test("fails for itself", async ({ trafficmock }) => {
  await ask("http://telemetry.nextjs.org/api/v1/record");
  await ask("http://nobody.test/");
  await ask("http://nobody.test/");
  throw new Error("its own");
});

test("passes", async ({ trafficmock }) => {
  await trafficmock.mock("**/*", { json: {} });
  await ask("http://telemetry.nextjs.org/api/v1/record");
});
`;

const STRICT_CONFIG = CONFIG.replace("retries: 1", "use: { trafficmockStrict: {} }")
  .replace("workers: 2", "workers: 1")
  .replace('reporter: [["', 'reporter: [["json"], ["');

test("what no test owns is told once for the run, and is no error of a test", async () => {
  // The service is strict longer than the run: what came before is not of it.
  const strict = await startProxy("--strict");
  const env = { TRAFFICMOCK_PROXY_URL: strict.url, PLAYWRIGHT_JSON_OUTPUT_NAME: "tests.json" };
  const { hostname, port } = new URL(strict.url);
  const before = get({ hostname, port, path: "http://before.test/", headers: { host: "before.test" } });
  (await once(before, "response"))[0].resume();
  const withoutReporter = STRICT_CONFIG.replace(/, \["trafficmock.*\]\],/, "],");
  try {
    for (const config of [STRICT_CONFIG, withoutReporter]) {
      const files = { "call.mjs": STRICT_CALL, "a.spec.mjs": STRICT_SPEC, "playwright.config.mjs": config };
      const project = makeProject({ files });
      try {
        const { status, output } = await project.run([], env);
        assert.equal(status, 1, output);
        const { errors, suites } = JSON.parse(readFileSync(join(project.place, "tests.json"), "utf8"));
        const said = suites[0].specs.map(({ tests: [{ results }] }) => results.map((each) => each.errors.length));
        assert.deepEqual([errors, said], [[], [[1], [0]]]);
        const shown = config === STRICT_CONFIG ? output : readFileSync(join(project.place, "tests.json"), "utf8");
        assert.equal(shown.split("http://nobody.test/, client ").length, 2, shown);
        assert.match(shown, /nobody\.test\/, client proxy, (at|from) [^"]*? \(2 times\)/);
        assert.match(shown, /What frameworks sent for themselves, refused by strict mode:\W/);
        assert.match(shown, /allow preset:next, or have Next\.js not send it \(NEXT_TELEMETRY_DISABLED=1\)/);
        // Neither what came before the run, nor what a route of the run is there for.
        assert.doesNotMatch(shown, /(before|polled)\.test\/, client/);
      } finally {
        project.remove();
      }
    }
  } finally {
    await strict.stop();
  }
});
