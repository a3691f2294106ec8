import { expect, fresh, ours, test, until } from "../../lib/fixtures.mjs";

const MIB = 1024 * 1024;

test("an 80 MiB mock fails or arrives, and every link survives", async ({ app, backendMocks }) => {
  ours("closes the worker's connection");
  test.setTimeout(120_000);
  const [large, small] = [fresh("json"), fresh("json")];
  await backendMocks.route(small, (route) => route.fulfill({ body: "small" }));
  await backendMocks.route(large, (route) => route.fulfill({ body: Buffer.alloc(80 * MIB, "x") }));
  const outcome = await app.fetch(large);
  expect(outcome.error !== undefined || outcome.bodyLength === 80 * MIB).toBe(true);
  if (outcome.error) {
    await until(
      async () => backendMocks.takeErrors(),
      (errors) => errors.length > 0,
      "the error",
    );
  }
  expect((await app.fetch(small)).body).toBe("small");
});

test("a 60 MiB mock arrives whole", async ({ app, backendMocks }) => {
  test.setTimeout(120_000);
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ body: Buffer.alloc(60 * MIB, "y") }));
  expect((await app.fetch(url)).bodyLength).toBe(60 * MIB);
});
