import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import cases from "./cases.cjs";

const { afterwards, begin, inBody, leaveBehind, prices, wanted } = cases;

describe("one after the other", () => {
  for (const n of [1, 2]) test(`test ${n}`, (t) => inBody(t.name));
});

describe("at the same time", { concurrency: true }, () => {
  for (const n of [1, 2, 3]) test(`test ${n}`, (t) => inBody(t.name));
});

describe("by hooks", () => {
  let mocks, price;
  beforeEach(async () => ({ mocks, price } = await begin("by hooks")));
  afterEach(() => mocks.end());
  for (const n of [1, 2]) test(`test ${n}`, async () => assert.deepEqual(await prices(), wanted(price)));
  test("leaves work", leaveBehind);
  test("after that", () => afterwards(mocks));
});
