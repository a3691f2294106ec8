/** What came, and what is to come. */
import { errorOf, expect, meaningless, test, upstreamUrl } from "../../lib/row.mjs";

/** `requests` lists all traffic since the test began, passthrough and hops included. */
test("observing_requests_in_order", async ({ t, trafficmock }) => {
  const hop = (left) => `${upstreamUrl}/redirect/${left}/${t.base}`;
  const urls = [t.url("echo", "?1"), hop(1), hop(0), t.url("echo", "?2")];
  await t.answer(urls[0], "mock");
  for (const url of [urls[0], urls[1], urls[3]]) await t.fetch(url);
  const listed = async () => (await trafficmock.requests(new RegExp(t.base))).map((request) => request.url());
  await expect.poll(listed).toEqual(urls);
});

/** `requests` filters by what handlers made of the request. */
test("observing_requests_filtered", async ({ t, trafficmock }) => {
  const [url, changed] = [t.url("echo"), t.url("echo", "?changed")];
  await trafficmock.route(url, (route) => route.continue({ method: "PUT", url: changed }));
  await t.get(url);
  const found = await trafficmock.requests({ url: changed, method: "PUT", clientId: "app" });
  expect(found.map((request) => request.method())).toEqual(["PUT"]);
  expect(await trafficmock.requests({ url: changed, method: "GET" })).toEqual([]);
});

/** Requests that nobody watched have their responses too. */
test("observing_responses_of_listed_requests", async ({ t, trafficmock }) => {
  const url = t.url("json");
  await t.get(url);
  const [found] = await trafficmock.requests(url);
  const response = await found.response();
  expect((await response.json()).from).toBe("upstream");
});

/** Waiters take globs, patterns and predicates over what they wait for. */
test("observing_wait_for_each_kind_of_matcher", async ({ t }) => {
  const url = t.url("echo");
  const wanted = [
    `**/${t.base}`,
    new RegExp(t.base),
    (found) => found.url() === url,
    async (found) => found.url() === url,
  ];
  for (const kind of ["request", "response"]) {
    for (const each of wanted) expect((await t.expect(kind, each, () => t.get(url))).url()).toBe(url);
  }
});

/** A predicate over a response may look at its status. */
test("observing_predicate_over_a_response", async ({ t }) => {
  const wanted = (response) => response.url().includes(t.base) && response.status() === 404;
  const found = await t.expect("response", wanted, async () => {
    await t.get(t.url("nothing"));
    await t.get(t.url("echo"));
  });
  expect(found.url()).toBe(t.url("nothing"));
});

/** A predicate that throws ends the wait with its error. */
test("observing_predicate_that_raises", async ({ t }) => {
  const bad = () => {
    throw new RangeError("bad predicate");
  };
  const error = await errorOf(() => t.expect("request", bad, () => t.get(t.url("echo"))));
  expect(error).toBeInstanceOf(RangeError);
  expect(error.message).toContain("bad predicate");
});

/** The error of a wait whose time is over. */
async function timeoutOf(wait) {
  const error = await errorOf(wait);
  expect(error.name).toBe("TimeoutError");
  return error.message;
}

/** Requests before the wait do not count; the error says that it came too early. */
test("observing_future_only", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  // The agent asks about the URL of a route, whatever its method. What it lets pass, the proxy may see after the answer.
  await trafficmock.route({ url, method: "PUT" }, (route) => route.continue());
  await t.get(url);
  const text = await timeoutOf(() => trafficmock.waitForRequest(url, { timeout: 200 }));
  expect(text).toContain("Timeout 200ms");
  expect(text).toContain(`GET ${url} (client app): came before the wait began`);
});

/** The response to an earlier request does not count. */
test("observing_future_only_by_request", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const kept = [];
  await trafficmock.route(url, (route) => {
    kept.push(route);
  });
  const key = await t.begin(url);
  await t.until(() => kept.length > 0);
  const act = async () => {
    await kept.pop().fulfill({ body: "early" });
    await t.outcome(key);
  };
  await timeoutOf(() => t.expect("response", url, act, { timeout: 200 }));
});

/** A request that failed answers no waiter for responses. */
test("observing_failures_are_no_responses", async ({ t }) => {
  const url = t.url("reset", "?times=9");
  const text = await timeoutOf(() => t.expect("response", url, () => t.get(url), { timeout: 200 }));
  expect(text).toContain("no response (");
});

/** Mocks, continued requests and hops answer waiters. */
test("observing_each_kind_of_response", async ({ t, trafficmock }) => {
  const [mocked, continued] = [t.url("echo"), t.url("json")];
  const hop = `${upstreamUrl}/redirect/1/${t.base}`;
  await t.answer(mocked, "mock");
  await trafficmock.route(continued, (route) => route.continue());
  for (const [url, status] of [
    [mocked, 200],
    [continued, 200],
    [hop, 302],
  ]) {
    const response = await t.expect("response", url, () => t.get(url));
    expect([response.url(), response.status()]).toEqual([url, status]);
  }
});

/** A wait that failed lists what came, nearest first, and the part that differs. */
test("observing_says_which_part_differs", async ({ t }) => {
  const url = t.url("echo", "?page=2");
  await t.get(t.url("json"));
  const text = await timeoutOf(() => t.expect("request", t.url("echo", "?page=1"), () => t.get(url), { timeout: 200 }));
  const lines = text.split("\n");
  expect(lines[2]).toBe(`  GET ${url} (client app): query differs ('?page=2', not '?page=1')`);
  expect(lines[3]).toContain("path differs");
});

test.skip(
  "observing_who_looks_at_nothing_is_told_nothing",
  meaningless("a wait begins without being awaited, so that the worker has to be told of its traffic before"),
  () => {},
);
