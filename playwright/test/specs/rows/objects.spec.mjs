/** Requests and responses as tests see them. */
import { errorOf, expect, test, upstreamUrl } from "../../lib/row.mjs";

/** A request has Playwright's methods. */
test("objects_request_properties", async ({ t }) => {
  const url = t.url("echo", "?a=1");
  const command = { method: "POST", headers: { "X-A": "1" }, body: "täxt" };
  const request = await t.expect("request", url, () => t.get(url, command));
  expect([request.url(), request.method(), request.clientId]).toEqual([url, "POST", "app"]);
  expect(request.headers()["x-a"]).toBe("1");
  request.headers()["x-a"] = "changed";
  expect(request.headers()["x-a"]).toBe("1");
  expect((await request.allHeaders())["x-a"]).toBe("1");
  expect(await request.headersArray()).toContainEqual({ name: "x-a", value: "1" });
  expect(await request.headerValue("X-a")).toBe("1");
  expect(await request.headerValue("x-none")).toBeNull();
  expect(request.postData()).toBe("täxt");
  expect(request.postDataBuffer()).toEqual(Buffer.from("täxt"));
  expect([request.resourceType(), request.failure(), request.serviceWorker()]).toEqual(["other", null, null]);
  expect(request.isNavigationRequest()).toBe(false);
  expect(Object.keys(request.timing())).toEqual(expect.arrayContaining(["startTime", "responseEnd"]));
  expect(await request.sizes()).toHaveProperty("requestBodySize", 5);
  expect(request.redirectedFrom()).toBeNull();
  expect(request.redirectedTo()).toBeNull();
  expect(await request.response()).toBe(request.existingResponse());
  const reads = [() => request.frame(), () => request.existingResponse().frame(), () => request.postDataJSON()];
  for (const read of reads) expect((await errorOf(read)).name, String(read)).toBe("UsageError");
});

/** JSON bodies are read, forms give their last values, no body gives `null`. */
test("objects_bodies", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const seen = [];
  await trafficmock.route(url, async (route, request) => {
    seen.push(request.postDataJSON());
    await route.fulfill();
  });
  const form = { "content-type": "application/x-www-form-urlencoded" };
  await t.get(url, { method: "POST", body: '{"a":[1]}' });
  await t.get(url, { method: "POST", headers: form, body: "a=1&a=2&b=" });
  await t.get(url);
  expect(seen).toEqual([{ a: [1] }, { a: "2", b: "" }, null]);
});

/** A body that is not JSON says so when it is read as such. */
test("objects_bad_json", async ({ t }) => {
  const url = t.url("echo");
  const request = await t.expect("request", url, () => t.get(url, { method: "POST", body: "{" }));
  const error = await errorOf(() => request.postDataJSON());
  expect(error.name).toBe("UsageError");
  expect(error.message).toContain("not a valid JSON object");
});

/** A response has Playwright's methods. */
test("objects_response_properties", async ({ t }) => {
  const url = t.url("cookies");
  const response = await t.expect("response", url, () => t.get(url));
  expect([response.status(), response.ok(), response.url()]).toEqual([200, true, url]);
  expect(response.statusText()).toBe("OK");
  expect(response.headerValue("Content-Type")).toBe("text/plain");
  expect(response.headerValue("x-none")).toBeNull();
  expect(response.headersArray()).toContainEqual({ name: "content-type", value: "text/plain" });
  expect(response.headers()["set-cookie"]).toContain("a=1");
  expect(await response.allHeaders()).toEqual(response.headers());
  expect(response.headerValues("Content-Type")).toEqual(["text/plain"]);
  expect(response.headerValues("x-none")).toEqual([]);
  expect(await response.body()).toEqual(Buffer.from("two cookies"));
  expect(await response.text()).toBe("two cookies");
  expect(response.request().url()).toBe(url);
  expect(response.fromServiceWorker()).toBe(false);
  expect(await errorOf(() => response.json())).toBeInstanceOf(SyntaxError);
});

/** A waiter's response, the request's and its existing one are the same object. */
test("objects_same_response", async ({ t }) => {
  const url = t.url("json");
  const response = await t.expect("response", url, () => t.get(url));
  expect(response.request().existingResponse()).toBe(response);
  expect(await response.request().response()).toBe(response);
});

/** The request that a handler gets, once the application had its answer. */
async function handledRequest(t, url, handle) {
  const requests = [];
  await t.trafficmock.route(url, async (route, request) => {
    requests.push(request);
    await handle(route);
  });
  await t.get(url);
  return requests[0];
}

/** The owner's request is answered by its mock, whether anybody watches or not. */
test("objects_response_of_a_mock", async ({ t }) => {
  const url = t.url("echo");
  const request = await handledRequest(t, url, (route) => route.fulfill({ status: 418, body: "tea" }));
  const response = await request.response();
  expect([response.status(), response.ok(), response.url()]).toEqual([418, false, url]);
  expect(await response.text()).toBe("tea");
});

/** The owner's request is answered by upstream, whether anybody watches or not. */
test("objects_response_of_a_continued_request", async ({ t }) => {
  const request = await handledRequest(t, t.url("json"), (route) => route.continue());
  const response = await request.response();
  expect((await response.json()).from).toBe("upstream");
});

/** Hops of a redirect know each other. */
test("objects_redirects_are_linked", async ({ t }) => {
  const hop = (left) => `${upstreamUrl}/redirect/${left}/${t.base}`;
  const last = await t.expect("response", hop(0), () => t.fetch(hop(2)));
  const urls = [];
  for (let request = last.request(); request; request = request.redirectedFrom()) urls.push(request.url());
  expect(urls).toEqual([hop(0), hop(1), hop(2)]);
  const before = last.request().redirectedFrom();
  expect(before.redirectedTo()).toBe(last.request());
  expect(before.existingResponse().status()).toBe(302);
});
