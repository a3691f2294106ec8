import { expect, fresh, test } from "../../lib/fixtures.mjs";

test("waitForRequest sees a request that passes through", async ({ app, backendMocks }) => {
  const url = fresh("echo");
  const waiting = backendMocks.waitForRequest(url);
  await app.fetch(url, { method: "POST", body: "seen" });
  const request = await waiting;
  expect([request.url(), request.method(), request.postData()]).toEqual([url, "POST", "seen"]);
  const response = await request.response();
  expect(response.status()).toBe(200);
});

test("waitForResponse sees a mock, a continue and a passthrough", async ({ app, backendMocks }) => {
  const urls = [fresh("json"), fresh("json"), fresh("json")];
  await backendMocks.route(urls[0], (route) => route.fulfill({ body: "mock" }));
  await backendMocks.route(urls[1], (route) => route.continue());
  for (const url of urls) {
    const waiting = backendMocks.waitForResponse(url);
    const outcome = await app.fetch(url);
    const response = await waiting;
    expect(await response.text()).toBe(outcome.body);
    expect(response.ok()).toBe(true);
  }
});

test("waitForResponse sees each hop of a redirect", async ({ app, backendMocks }) => {
  const url = fresh("redirect/2");
  const statuses = [];
  const path = new URL(url).pathname.split("/")[3];
  const last = backendMocks.waitForResponse((response) => {
    if (response.url().includes(path)) statuses.push(response.status());
    return response.url().endsWith(`/redirect/0/${path}`);
  });
  await app.fetch(url);
  const response = await last;
  expect(statuses).toEqual([302, 302, 200]);
  expect(response.request().redirectedFrom().redirectedFrom().url()).toBe(url);
});

test("waiters look only ahead", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await app.fetch(url);
  // Ours has heard of the request when this is there; news of it could come later than the application's answer.
  await backendMocks.requests();
  await expect(backendMocks.waitForRequest(url, { timeout: 200 })).rejects.toThrow(/timeout/i);
  await expect(backendMocks.waitForResponse(url, { timeout: 200 })).rejects.toThrow(/timeout/i);
});

test("a waiter ends with its signal", async ({ backendMocks }) => {
  const controller = new AbortController();
  const waiting = backendMocks.waitForRequest(fresh("json"), { signal: controller.signal });
  controller.abort(new Error("changed my mind"));
  await expect(waiting).rejects.toThrow(/changed my mind/);
});

test("requests lists what was observed, whoever handled it", async ({ app, backendMocks }) => {
  const base = fresh("json");
  await backendMocks.route(`${base}/mock`, (route) => route.fulfill({ body: "mock" }));
  for (const name of ["first", "mock", "last"]) await app.fetch(`${base}/${name}`);
  const observed = await backendMocks.requests(`${base}/*`);
  expect(observed.map((request) => request.url())).toEqual(["first", "mock", "last"].map((name) => `${base}/${name}`));
});

test("an aborted request has no response for its owner", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.abort());
  const waiting = backendMocks.waitForRequest(url);
  await app.fetch(url);
  expect(await (await waiting).response()).toBeNull();
});
