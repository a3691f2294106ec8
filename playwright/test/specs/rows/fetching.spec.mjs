/** `fetch`: what handlers ask upstream. */
import { ALONE, errorOf, expect, test, upstreamUrl } from "../../lib/row.mjs";

/** `fetch` decides nothing, may be repeated, and its response can be built upon. */
test("fetching_fetch_then_modify", async ({ t, trafficmock }) => {
  const url = t.url("json");
  await trafficmock.route(url, async (route) => {
    const first = await route.fetch();
    const second = await route.fetch({ url: t.url("echo") });
    const { path } = await second.json();
    await route.fulfill({ response: first, json: { ...(await first.json()), path } });
  });
  const outcome = await t.get(url);
  expect(JSON.parse(outcome.body)).toMatchObject({ items: [1, 2], path: `/echo/${t.base}` });
  expect(Number(outcome.headers["content-length"])).toBe(outcome.body.length);
});

/** `fetch` starts from the changes so far, its options win, and they leave no trace. */
test("fetching_fetch_starts_from_the_changes", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const seen = [];
  await trafficmock.route(url, async (route, request) => {
    let response = await route.fetch({ headers: { "x-n": 5, cookie: "c=1" }, postData: { a: 1 } });
    seen.push(await response.json(), request.postData());
    response = await route.fetch({ postData: "text" });
    seen.push(await response.json());
    await route.fulfill({ response });
  });
  await trafficmock.route(url, (route) => route.fallback({ method: "PUT", postData: "above" }));
  await t.get(url, { method: "POST", body: "b", headers: { "x-old": "1" } });
  const [first, body, second] = seen;
  expect([first.method, first.body]).toEqual(["PUT", '{"a":1}']);
  expect(first.headers).toMatchObject({ "x-n": "5", cookie: "c=1", "content-type": "application/json" });
  expect(body).toBe("above");
  expect(second.headers).toMatchObject({ "content-type": "application/octet-stream", "x-old": "1" });
});

/** A text that is no JSON, sent as JSON, becomes a JSON string. */
test("fetching_fetch_of_text_as_json", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const seen = [];
  await trafficmock.route(url, async (route) => {
    for (const postData of ["plain", '{"a":1}']) {
      const headers = { "content-type": "application/json" };
      const response = await route.fetch({ method: "POST", headers, postData });
      seen.push((await response.json()).body);
    }
    await route.fulfill({ body: "" });
  });
  await t.get(url);
  expect(seen).toEqual(['"plain"', '{"a":1}']);
});

/** Negative counts and URLs that are not HTTP's are refused before anything is sent. */
test("fetching_fetch_refuses", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const errors = [];
  await trafficmock.route(url, async (route) => {
    for (const bad of [{ maxRedirects: -1 }, { maxRetries: -1 }, { url: "file:///x" }]) {
      errors.push(await errorOf(() => route.fetch(bad)));
    }
    await route.fulfill({ body: "fine" });
  });
  expect((await t.get(url)).body).toBe("fine");
  expect(errors.map(({ name }) => name)).toEqual(["UsageError", "UsageError", "UsageError"]);
  const [redirects, retries, scheme] = errors.map(({ message }) => message);
  expect(redirects).toContain("maxRedirects");
  expect(retries).toContain("maxRetries");
  expect(scheme).toContain("protocol");
});

/** A relative URL is resolved against the request's. */
test("fetching_fetch_relative", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.route(url, async (route) => {
    await route.fulfill({ response: await route.fetch({ url: "/json/other" }) });
  });
  expect((await t.get(url)).body).toContain('"upstream"');
});

/** `maxRedirects` follows so many redirects, none, or fails beyond them. */
test("fetching_fetch_redirects", async ({ t, trafficmock }) => {
  const url = `${upstreamUrl}/redirect/2/${t.base}`;
  const seen = [];
  await trafficmock.route(url, async (route) => {
    for (const maxRedirects of [0, 2]) seen.push((await route.fetch({ maxRedirects })).status());
    seen.push(await errorOf(() => route.fetch({ maxRedirects: 1 })));
    await route.fulfill({ body: "done" });
  });
  await t.get(url);
  expect(seen.slice(0, 2)).toEqual([302, 200]);
  expect(seen[2].name).toBe("FetchError");
  expect(seen[2].message).toMatch(/max redirect count exceeded/i);
});

/** `maxRetries` survives so many resets. */
test("fetching_fetch_retries", async ({ t, trafficmock }) => {
  const url = t.url("reset", "?times=2");
  await trafficmock.route(url, async (route) => route.fulfill({ response: await route.fetch({ maxRetries: 2 }) }));
  const outcome = await t.get(url, { headers: ALONE });
  expect(JSON.parse(outcome.body)).toEqual({ attempts: 3 });
});

/** `fetch` gives up after its timeout, in milliseconds. */
test("fetching_fetch_times_out", async ({ t, trafficmock }) => {
  const url = `${upstreamUrl}/held/${t.base}`;
  const errors = [];
  await trafficmock.route(url, async (route) => {
    errors.push(await errorOf(() => route.fetch({ timeout: 50 })));
    await route.fulfill({ body: "given up" });
  });
  expect((await t.get(url)).body).toBe("given up");
  expect(errors[0].name).toBe("FetchError");
  expect(errors[0].message).toContain("Timeout 50ms");
});
