/** Handlers that are removed, also while they run. */
import { expect, test } from "../../lib/row.mjs";

/** `unroute` takes the matcher and the handler as they were given. */
test("unrouting_unroute", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const one = await t.answer(url, "one");
  await t.answer(url, "two");
  await t.answer(new RegExp(t.base), "regex");
  await trafficmock.unroute(new RegExp(t.base));
  expect((await t.get(url)).body).toBe("two");
  await trafficmock.unroute(url, one);
  expect((await t.get(url)).body).toBe("two");
  await t.answer({ url, method: "GET" }, "filtered");
  await trafficmock.unroute(url);
  expect((await t.get(url)).body).toBe("filtered");
});

/** Two functions that do the same are not the same matcher. */
test("unrouting_unroute_predicates_by_identity", async ({ t, trafficmock }) => {
  await t.answer((url) => url.href.includes(t.base), "kept");
  await trafficmock.unroute((url) => url.href.includes(t.base));
  expect((await t.get(t.url("echo"))).body).toBe("kept");
});

/** Begin a request, and come back once its handler runs. */
async function heldRequest(t, url, act) {
  const gate = Promise.withResolvers();
  let hasStarted = false;
  await t.trafficmock.route(url, async (route) => {
    hasStarted = true;
    await gate.promise;
    await act(route);
  });
  const key = await t.begin(url);
  await t.until(() => hasStarted);
  return { key, open: gate.resolve };
}

const fulfill = (route) => route.fulfill({ body: "held" });

/** By default `unrouteAll` lets the requests of running handlers go on. */
test("unrouting_unroute_all_lets_go", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const held = await heldRequest(t, url, fulfill);
  await trafficmock.unrouteAll();
  expect((await t.outcome(held.key)).body).toContain('"path"');
  held.open();
  const errors = await t.lateErrors();
  expect(errors.map(({ name }) => name)).toEqual(["AlreadyHandledError"]);
  expect((await t.get(url)).body).toContain('"path"');
});

/** With `ignoreErrors` what running handlers throw later is swallowed. */
test("unrouting_unroute_all_ignores", async ({ t, trafficmock }) => {
  const held = await heldRequest(t, t.url("echo"), () => {
    throw new Error("late");
  });
  await trafficmock.unrouteAll({ behavior: "ignoreErrors" });
  held.open();
  expect((await t.outcome(held.key)).body).toContain('"path"');
  expect(trafficmock.takeErrors()).toEqual([]);
});

/** With `wait` it is done when running handlers are. */
test("unrouting_unroute_all_waits", async ({ t, trafficmock }) => {
  const held = await heldRequest(t, t.url("echo"), fulfill);
  held.open();
  await trafficmock.unrouteAll({ behavior: "wait" });
  expect((await t.outcome(held.key)).body).toBe("held");
});
