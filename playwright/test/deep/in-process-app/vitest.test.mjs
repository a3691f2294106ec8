import { createRequire } from "node:module";
import { afterEach, aroundEach, beforeEach, describe, expect, test } from "vitest";

const { afterwards, begin, inBody, leaveBehind, prices, wanted } = createRequire(import.meta.url)("./cases.cjs");

test("first", ({ task }) => inBody(task.name));

test.concurrent.for([1, 2, 3])("at the same time %i", (_, { task }) => inBody(task.name));

describe("by hooks", () => {
  let mocks, price;
  beforeEach(async () => void ({ mocks, price } = await begin("by hooks")));
  afterEach(() => mocks.end());
  for (const n of [1, 2]) test(`test ${n}`, async () => expect(await prices()).toEqual(wanted(price)));
  test("leaves work", leaveBehind);
  test("after that", () => afterwards(mocks));
});

describe("by a hook around them", () => {
  let price;
  aroundEach(async (runTest) => {
    const begun = await begin("around");
    price = begun.price;
    await begun.mocks.run(runTest);
    await begun.mocks.end();
  });
  for (const n of [1, 2]) test(`test ${n}`, async () => expect(await prices()).toEqual(wanted(price)));
});

describe("by a fixture", () => {
  const it = test.extend({
    begun: async ({ task }, use) => {
      const begun = await begin(task.name);
      await use(begun);
      await begun.mocks.end();
    },
  });
  for (const n of [1, 2]) {
    it.concurrent(`test ${n}`, async ({ begun }) => expect(await prices()).toEqual(wanted(begun.price)));
  }
});
