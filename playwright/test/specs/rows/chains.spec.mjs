/** Fallbacks from handler to handler. */
import { expect, test, upstreamUrl } from "../../lib/row.mjs";

/** After a fallback the others are matched against the request as changed. */
test("chains_chain_sees_the_changes", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await t.answer("**/changed", "changed url");
  await t.answer(url, "unchanged url");
  await trafficmock.route(url, (route) => route.fallback({ url: `${upstreamUrl}/changed`, method: "PUT" }));
  expect((await t.get(url)).body).toBe("changed url");
});

/** When nobody is left the request goes on with all changes. */
test("chains_chain_exhausted", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const bodies = [];
  await trafficmock.route(url, async (route, request) => {
    bodies.push(request.postData());
    await route.fallback({ headers: { "x-one": "1" } });
  });
  await trafficmock.route(url, (route) => route.fallback({ method: "PUT", postData: "two" }));
  const seen = JSON.parse((await t.get(url, { method: "POST", body: "one" })).body);
  expect(bodies).toEqual(["two"]);
  expect(seen).toMatchObject({ method: "PUT", body: "two", headers: { "x-one": "1" } });
});

/** Changes that end on another scheme fail the request and the test; nothing stalls. */
test("chains_chain_to_another_scheme", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.route(url, (route) => route.fallback({ url: "https://h.test/" }));
  expect(await t.get(url)).toHaveProperty("error");
  const [error, ...others] = await t.lateErrors();
  expect(others).toEqual([]);
  expect(error.name).toBe("RoutingError");
  expect(error.message).toContain("same protocol");
});

/** A handler that was removed meanwhile is skipped. */
test("chains_removed_while_the_chain_runs", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const below = await t.answer(url, "removed");
  await trafficmock.route(url, async (route) => {
    await trafficmock.unroute(url, below);
    await route.fallback();
  });
  expect((await t.get(url)).body).toContain('"path"');
});

/** A handler that throws after it fell back ends the chain. */
test("chains_throws_after_fallback", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await t.answer(url, "below");
  await trafficmock.route(url, async (route) => {
    await route.fallback();
    throw new Error("after all");
  });
  expect(await t.get(url)).toHaveProperty("error");
  expect(trafficmock.takeErrors()).toHaveLength(1);
});
