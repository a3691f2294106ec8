import { expect, fixture, fresh, row, test } from "../../lib/fixtures.mjs";

let left;

test("a test ends without an answer to its request", async ({ app, backendMocks }) => {
  if (fixture === "ours") {
    test.info().annotations.push({ type: "must-fail", description: "ended before the handler" });
    // It keeps its worker, and so the request for the next test.
    test.fail();
  }
  const url = fresh("json");
  let reached;
  const called = new Promise((resolve) => (reached = resolve));
  await backendMocks.route(url, () => reached());
  left = { key: url, url };
  await app.begin(url, url);
  await called;
});

test("the ended test's request fails in the app, history names the test", async ({ app }) => {
  expect((await app.outcome(left.key)).error).toBeDefined();
  const entry = await row(left.url);
  expect(entry.outcome).toMatchObject({ kind: "error", code: "disconnected" });
  expect(entry.title).toContain("a test ends without an answer to its request");
});

test("an ended test's route is gone", async ({ app }) => {
  expect((await app.fetch(left.url)).body).toContain("upstream");
});

test("an app that stops its agent fails its waiting call and lives on", async ({ backendMocks, ownApp }) => {
  const own = await ownApp();
  const url = fresh("json");
  let reached;
  const called = new Promise((resolve) => (reached = resolve));
  await backendMocks.route(url, () => reached());
  await own.begin("waiting", url);
  await called;
  await own.stop();
  expect((await own.outcome("waiting")).error).toBeDefined();
  expect((await row(url, (entry) => entry.outcome.kind === "error")).outcome.code).toBe("disconnected");
  expect((await own.fetch(fresh("json"))).status).toBe(200);
});
