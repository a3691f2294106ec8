/* Tests that end in all ways. */
const { connect } = require("trafficmock-playwright/core");

jest.retryTimes(1);

const URL_ = "http://shop.example/price";
const wanted = () => {
  throw new Error("as wanted");
};

/** Ask once, in a test that is not ended yet. */
async function begin(title, options) {
  const mocks = await connect({ title, attachSelf: true, ...options });
  await mocks.mock(URL_, { json: 3 });
  await fetch(URL_);
  return mocks;
}

describe("ended by a hook", () => {
  let mocks;
  beforeEach(async () => {
    mocks = await begin(expect.getState().currentTestName.replace("ended by a hook ", ""));
  });
  afterEach(() => mocks.end());
  test("passes", () => {});
  test("fails", wanted);
  test("fails by its number of assertions", () => expect.assertions(2));
  test.failing("fails as it should", wanted);
});

test("ends in its function, and fails", async () => {
  const mocks = await begin("ends in its function, and fails");
  try {
    wanted();
  } finally {
    await mocks.end();
  }
});

test("fails by its mocks", async () => {
  const mocks = await connect({ title: "fails by its mocks", attachSelf: true, strict: true });
  await mocks.mock("http://shop.example/other", { json: 3 });
  await fetch(URL_).catch(() => {});
  await mocks.end();
});

describe("with a hook that fails", () => {
  let mocks;
  // The last hook runs first.
  afterEach(() => {
    throw new Error("in a hook");
  });
  afterEach(() => mocks.end());
  test("fails by a hook", async () => {
    mocks = await begin("fails by a hook");
  });
});

let tries = 0;
test("fails once", async () => {
  const mocks = await begin("fails once");
  await mocks.end();
  tries += 1;
  if (tries === 1) wanted();
});

test.concurrent("concurrently fails", async () => {
  const mocks = await begin("concurrently fails");
  await mocks.end();
  wanted();
});

test.concurrent("concurrently passes", async () => {
  const mocks = await begin("concurrently passes");
  await new Promise((resolve) => setTimeout(resolve, 50));
  await mocks.end();
});

test("is said to have failed", async () => {
  const mocks = await begin("is said to have failed");
  await mocks.end({ failed: true, error: new Error("said") });
});

test("passes after all", async () => {
  const mocks = await begin("passes after all");
  await mocks.end();
});
