const { afterwards, begin, inBody, leaveBehind, prices, wanted } = require("./cases.cjs");

test("first", () => inBody("first"));

test.concurrent.each([1, 2, 3])("at the same time %i", (n) => inBody(`at the same time ${n}`));

describe("by hooks", () => {
  let mocks, price;
  beforeEach(async () => {
    ({ mocks, price } = await begin("by hooks"));
  });
  afterEach(() => mocks.end());
  test.each([1, 2])("test %i", async () => expect(await prices()).toEqual(wanted(price)));
  test("leaves work", leaveBehind);
  test("after that", () => afterwards(mocks));
});
