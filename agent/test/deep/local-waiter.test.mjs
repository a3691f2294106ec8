import assert from "node:assert/strict";
import { test } from "node:test";
import { subscribeLate } from "../lib/late-subscriptions.mjs";

const TRIES = Number(process.env.TRAFFICMOCK_TRIES ?? 10_000);

test(`${TRIES} tests that subscribe right after a request are not told of it`, async () => {
  const { early, unasked } = await subscribeLate({ tries: TRIES });
  assert.equal(early, 0);
  assert.ok(unasked > TRIES, `${unasked} passed unasked`);
});

test("some are if the proxy does not note when they began", async () => {
  const { early } = await subscribeLate({ tries: 100, hasBeginning: false, isOver: (found) => found > 0 });
  assert.notEqual(early, 0);
});
