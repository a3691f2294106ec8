/** Run with a claim timeout of 600 ms. */
import { expect, fixture, fresh, ours, row, test } from "../../lib/fixtures.mjs";

const CLAIM_TIMEOUT_MS = 600;

/** Nothing else runs in this worker meanwhile, as in a test that computes. */
function block(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test("a worker blocked while it is asked: claim_timeout", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(
    (seen) => {
      if (seen.href === url) block(3 * CLAIM_TIMEOUT_MS);
      return false;
    },
    (route) => route.abort(),
  );
  const outcome = await app.fetch(url);
  expect(outcome.error).toBeDefined();
  const entry = await row(url);
  expect(entry).toMatchObject({ action: "error", outcome: { kind: "error", code: "claim_timeout" } });
  expect((await app.fetch(fresh("json"))).status).toBe(200);
});

const HEARTBEATS = "our fixture's connection has a thread of its own, so that a test may stand at a breakpoint";

test("a worker blocked while its route decides: claim_timeout", async ({ app, backendMocks }) => {
  test.skip(fixture === "ours", HEARTBEATS);
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ body: "too late" }));
  await app.begin(url, url, { delayMs: 100 });
  block(4 * CLAIM_TIMEOUT_MS);
  expect((await app.outcome(url)).error).toBeDefined();
  expect((await row(url)).outcome).toMatchObject({ kind: "error", code: "claim_timeout" });
  const next = fresh("json");
  await backendMocks.route(next, (route) => route.fulfill({ body: "in time" }));
  expect((await app.fetch(next)).body).toBe("in time");
});

test("the timeout's text names the test", async ({ app, backendMocks }) => {
  ours("names only the test's id");
  test.skip(fixture === "ours", HEARTBEATS);
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ body: "too late" }));
  await app.begin(url, url, { kind: "http", delayMs: 100 });
  block(4 * CLAIM_TIMEOUT_MS);
  const { error } = await app.outcome(url);
  expect(error.message).toContain("the timeout's text names the test");
  expect((await row(url)).outcome.message).toBe(error.message);
});

test("a handler may take longer than the claim timeout", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(url, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 2.5 * CLAIM_TIMEOUT_MS));
    await route.fulfill({ body: "took its time" });
  });
  expect((await app.fetch(url)).body).toBe("took its time");
});

test("a worker blocked while its route decides, with heartbeats of its own: no timeout", async ({
  app,
  backendMocks,
}) => {
  test.skip(fixture !== "ours", "the npm fixture's heartbeats stop with the worker");
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ body: "after the breakpoint" }));
  await app.begin(url, url, { delayMs: 100 });
  block(4 * CLAIM_TIMEOUT_MS);
  expect((await app.outcome(url)).body).toBe("after the breakpoint");
});
