/** Who handles what: order and `times`. */
import { errorOf, expect, test } from "../../lib/row.mjs";

/** The newest handler that matches is asked first. */
test("routing_newest_first", async ({ t }) => {
  const url = t.url("echo");
  await t.answer(url, "old");
  await t.answer("**/*", "new");
  await t.answer("**/nothing", "other");
  expect((await t.get(url)).body).toBe("new");
});

/** The bodies of so many requests, one after the other. */
async function bodiesOf(t, url, count) {
  const bodies = [];
  for (let i = 0; i < count; i += 1) bodies.push((await t.get(url)).body);
  return bodies;
}

/** A handler with `times` is gone after so many calls. */
test("routing_times", async ({ t }) => {
  const url = t.url("echo");
  await t.answer(url, "always");
  await t.answer(url, "twice", { times: 2 });
  expect(await bodiesOf(t, url, 3)).toEqual(["twice", "twice", "always"]);
});

/** Zero and less count as one; NaN never ends. */
test("routing_odd_times", async ({ t }) => {
  const url = t.url("echo");
  await t.answer(url, "for ever", { times: NaN });
  await t.answer(url, "minus", { times: -3 });
  await t.answer(url, "zero", { times: 0 });
  expect(await bodiesOf(t, url, 4)).toEqual(["zero", "minus", "for ever", "for ever"]);
});

/** A call that falls back counts for `times`. */
test("routing_a_fallback_counts", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await t.answer(url, "below");
  let calls = 0;
  const handler = async (route) => {
    calls += 1;
    await route.fallback();
  };
  await trafficmock.route(url, handler, { times: 1 });
  expect(await bodiesOf(t, url, 2)).toEqual(["below", "below"]);
  expect(calls).toBe(1);
});

/** Of two requests at once, a `times: 1` handler gets one; the other goes to the network. */
test("routing_two_at_once_on_times_one", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const gate = Promise.withResolvers();
  const handler = async (route) => {
    await gate.promise;
    await route.fulfill({ body: "mock" });
  };
  await trafficmock.route(url, handler, { times: 1 });
  const [first, second] = [await t.begin(url), await t.begin(url)];
  const other = await t.outcome(second);
  gate.resolve();
  expect((await t.outcome(first)).body).toBe("mock");
  expect(other.body).not.toBe("mock");
  expect(await t.upstream(`seen?path=/echo/${t.base}`)).toHaveLength(1);
});

/** What nobody in the test wants any more passes through, without an owner. */
test("routing_unwanted_match_is_declined", async ({ t }) => {
  const url = t.url("echo");
  await t.answer(url, "once", { times: 1 });
  const keys = [await t.begin(url), await t.begin(url)];
  const bodies = [];
  for (const key of keys) bodies.push((await t.outcome(key)).body);
  expect(bodies.filter((body) => body === "once")).toHaveLength(1);
  const actions = (await t.recorded(url)).map(({ action }) => action);
  expect(actions.sort()).toEqual(["fulfill", "passthrough"]);
});

/** A handler may take the route alone. */
test("routing_handlers_of_one_argument", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.route(url, (route) => route.fulfill({ body: "alone" }));
  expect((await t.get(url)).body).toBe("alone");
});

/** What cannot be called is refused at once, as are words that mean nothing. */
test("routing_no_handler", async ({ trafficmock }) => {
  const attempts = [
    () => trafficmock.route("**/*", "text"),
    () => trafficmock.routeWebSocket("**/*", null),
    () => trafficmock.waitForRequest(5),
    () => trafficmock.unrouteAll({ behavior: "later" }),
    () => trafficmock.routeFromHAR("x.har", { notFound: "ignore" }),
    () => trafficmock.routeFromHAR("x.har", { update: true, updateContent: "omit" }),
    () => trafficmock.routeFromHAR("x.har", { update: true, updateMode: "all" }),
  ];
  for (const attempt of attempts) expect((await errorOf(attempt)).name, String(attempt)).toBe("UsageError");
});
