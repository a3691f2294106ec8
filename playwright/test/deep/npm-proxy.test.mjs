/* The fixtures on the npm proxy 0.1.8, which Playwright's configuration finds running. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startNpmProxy } from "../../../agent/test/lib/proxy.mjs";
import { runFixtures } from "../lib/run-fixtures.mjs";

describe("on the npm proxy", () => {
  let proxy;

  before(async () => (proxy = await startNpmProxy()));
  after(() => proxy.stop());

  const run = (args, env = {}) => runFixtures(args, { TRAFFICMOCK_PROXY_URL: proxy.url, ...env });

  test("tests one after the other, with pages", async () => {
    const ended = await run(["parallel.spec.mjs"], { ROUNDS: "2" });
    assert.deepEqual(ended.failed, []);
    assert.equal(ended.passed.length, 6);
  });

  test("reports are the same", async () => {
    const ended = await run(["report.spec.mjs"]);
    assert.equal(ended.failed.length, 5, ended.failed.join("\n\n"));
    const { result } = ended.tests.find(({ title }) => title === "an assertion fails");
    assert.ok(result.attachments.some(({ name }) => name === "server-traffic.har"));
  });

  test("what it does not have fails tests in words", async () => {
    const one = ["report.spec.mjs", "-g", "passes"];
    const strict = await run(one, { STRICT: "auth.example" });
    assert.match(strict.failed.join("\n"), /strict mode is asked for, and the proxy at .* does not have it/);
    const isolated = await run(one, { ISOLATION: "required" });
    assert.match(isolated.failed.join("\n"), /isolation is asked for, and the proxy at .* knows no contexts/);
  });
});
