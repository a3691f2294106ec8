/** The beginning and the end of a test. */
import { expect, test } from "../../lib/row.mjs";

/** `takeErrors` returns and empties the list; the request was aborted. */
test("fixture_errors_are_taken_once", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.route(url, function boom() {
    throw new RangeError("the handler's own text");
  });
  expect(await t.get(url)).toHaveProperty("error");
  const [entry] = await t.recorded(url);
  expect(entry.outcome.errorCode).toBe("failed");
  const [error, ...others] = trafficmock.takeErrors();
  expect(others).toEqual([]);
  expect(error).toBeInstanceOf(RangeError);
  expect(error.message).toMatch(/in the handler boom .*fixture\.spec\.mjs/);
  expect(error.stack).toMatch(/at .*boom .*fixture\.spec\.mjs:\d+/);
  expect(trafficmock.takeErrors()).toEqual([]);
});

/** The proxy knows the test by its title when it owns something. */
test("fixture_registered_by_name", async ({ t }) => {
  const url = t.url("echo");
  await t.answer(url, "mine");
  await t.get(url);
  const [entry] = await t.recorded(url);
  expect(entry.title).toMatch(/registered_by_name$/);
});

/** After the end nothing of the test is left at the proxy. */
test("fixture_end_unregisters", async ({ t }) => {
  const busy = async () =>
    (await t.rest("/api/connections")).playwrightWorkers.filter(({ routeCount }) => routeCount > 0);
  await t.inAnotherTest(async (trafficmock) => {
    await trafficmock.route(t.url("echo"), (route) => route.fulfill());
    expect(await busy()).toHaveLength(1);
  });
  expect(await busy()).toEqual([]);
});

/** The text of a handler's error stands in the history beside the abort. */
test("fixture_history_has_the_text", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.route(url, () => {
    throw new Error("the handler's own text");
  });
  await t.get(url);
  const [entry] = await t.recorded(url);
  expect(trafficmock.takeErrors()).toHaveLength(1);
  expect(JSON.stringify(entry.events)).toContain("the handler's own text");
});
