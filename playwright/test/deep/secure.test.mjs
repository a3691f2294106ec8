/* An application on https, for all workers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { selfSigned } from "../../../agent/test/lib/certificate.mjs";
import { runFixtures } from "../lib/run-fixtures.mjs";

const { key: SHOP_KEY, cert: SHOP_CERT } = selfSigned();

test("tests side by side on one https application each get their own answers", async () => {
  const ended = await runFixtures(["parallel.spec.mjs"], { SHOP_KEY, SHOP_CERT, WORKERS: "2", ROUNDS: "2" });
  assert.deepEqual(ended.failed, []);
  assert.equal(ended.passed.length, 6);
});

test("cookies carry the context, beside those of the configuration", async () => {
  const ended = await runFixtures([], { SHOP_KEY, SHOP_CERT, ISOLATION: "required" }, { specs: "secure" });
  assert.deepEqual(ended.failed, []);
  assert.equal(ended.passed.length, 5);
});
