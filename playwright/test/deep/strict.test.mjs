/* A strict run of Playwright: whom a refused request fails, and by which text. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runFixtures } from "../lib/run-fixtures.mjs";

const OWN =
  /GET http:\/\/prices\.example\/prices\/cup is not mocked, and strict mode allows only auth\.example\.\nNearest: route "http:\/\/prices\.example\/price\/\*" \(specs\/strict\.spec\.mjs:5\): path differs \('\/prices\/cup', not '\/price\/\*'\)\.\n.*\n1 more request met the same\./;
const OF_NOBODY =
  /^RoutingError: Strict mode refused requests that no test owns:\n {2}GET http:\/\/prices\.example\/price\/can, client shop, process \d+ \(node shop\.mjs\), .*\(2 times\)\n {4}GET .* is not mocked/m;

test("a test fails by its own requests, and the run by those of nobody", async () => {
  const ended = await runFixtures([], { STRICT: "auth.example" }, { specs: "strict" });
  const own = ended.tests.find(({ title }) => title === "requests of its own").result;
  assert.match(own.errors[0].message, OWN);
  const refused = own.steps.filter(({ title }) => title.endsWith("/prices/cup (refused by strict mode)"));
  assert.deepEqual(
    refused.map(({ error }) => /is not mocked, and strict mode allows only auth\.example/.test(error.message)),
    [true, true],
  );
  assert.deepEqual(ended.passed, ["a request of nobody"]);
  const [ofNobody, ...others] = ended.failed.filter((text) => !text.startsWith("requests of its own"));
  assert.match(ofNobody, OF_NOBODY);
  assert.deepEqual(others, []);
  assert.equal(ended.status, 1);
});

test("without strict mode both pass", async () => {
  const ended = await runFixtures([], {}, { specs: "strict" });
  assert.deepEqual(ended.failed, []);
});
