import { answered, deadUrl, expect, fresh, row, seenUpstream, test } from "../../lib/fixtures.mjs";

const echoed = (outcome) => JSON.parse(outcome.body);
const decoded = (base64) => Buffer.from(base64, "base64").toString();

test("continue without overrides sends what the app sent", async ({ app, backendMocks }) => {
  const url = fresh("echo");
  await backendMocks.route(url, (route) => route.continue());
  const outcome = await app.fetch(url, { method: "POST", body: "body", headers: { "x-app": "1" } });
  expect(echoed(outcome)).toMatchObject({ method: "POST", body: "body" });
  expect(echoed(outcome).headers["x-app"]).toBe("1");
  const entry = await row(url, answered);
  expect(entry).toMatchObject({ action: "continue", outcome: { kind: "continued" } });
  expect(entry.overrides).toBeUndefined();
  expect(entry.title).toContain("continue without overrides");
});

test("continue with another url", async ({ app, backendMocks }) => {
  const [url, other] = [fresh("echo"), fresh("echo", "?other=1")];
  await backendMocks.route(url, (route) => route.continue({ url: other }));
  expect(echoed(await app.fetch(url)).path).toBe(new URL(other).pathname + "?other=1");
  expect(await seenUpstream(url)).toEqual([]);
  const entry = await row(url, answered);
  expect(entry.request.url).toBe(url);
  expect(entry.overrides).toEqual({ url: other });
  expect(entry.outcome.response.url).toBe(other);
});

test("continue with another method", async ({ app, backendMocks }) => {
  const url = fresh("echo");
  await backendMocks.route(url, (route) => route.continue({ method: "PATCH" }));
  expect(echoed(await app.fetch(url, { method: "POST", body: "x" })).method).toBe("PATCH");
  expect((await row(url, answered)).overrides).toEqual({ method: "PATCH" });
});

test("continue with other headers", async ({ app, backendMocks }) => {
  const url = fresh("echo");
  await backendMocks.route(url, (route, request) =>
    route.continue({ headers: { ...request.headers(), "x-added": "yes", "x-app": undefined } }),
  );
  const { headers } = echoed(await app.fetch(url, { headers: { "x-app": "1", "x-kept": "2" } }));
  expect(headers["x-added"]).toBe("yes");
  expect(headers["x-kept"]).toBe("2");
  expect(headers["x-app"]).toBeUndefined();
  const entry = await row(url, answered);
  expect(entry.overrides.headers["x-added"]).toBe("yes");
  expect(entry.request.headers["x-app"]).toBe("1");
});

test("continue with another body", async ({ app, backendMocks }) => {
  const url = fresh("echo");
  await backendMocks.route(url, (route) => route.continue({ postData: "changed \u00e9" }));
  const outcome = echoed(await app.fetch(url, { method: "POST", body: "original" }));
  expect(outcome.body).toBe("changed \u00e9");
  expect(outcome.headers["content-length"]).toBe("10");
  const entry = await row(url, answered);
  expect(decoded(entry.overrides.bodyBase64)).toBe("changed \u00e9");
  expect(decoded(entry.request.bodyBase64)).toBe("original");
});

test("continue with all four", async ({ app, backendMocks }) => {
  const [url, other] = [fresh("echo"), fresh("echo")];
  await backendMocks.route(url, (route) =>
    route.continue({ url: other, method: "PUT", headers: { "x-all": "4" }, postData: "all" }),
  );
  const outcome = echoed(await app.fetch(url, { method: "POST", body: "original" }));
  expect(outcome).toMatchObject({ method: "PUT", body: "all", path: new URL(other).pathname });
  expect(outcome.headers["x-all"]).toBe("4");
  const entry = await row(url, answered);
  expect(Object.keys(entry.overrides).sort()).toEqual(["bodyBase64", "headers", "method", "url"]);
});

test("continue to a dead port fails the app's call, and history says why", async ({ app, backendMocks }) => {
  const url = fresh("echo");
  const dead = await deadUrl();
  await backendMocks.route(url, (route) => route.continue({ url: dead }));
  const outcome = await app.fetch(url);
  expect(JSON.stringify(outcome.error)).toContain("ECONNREFUSED");
  const failed = ({ events }) => events.some((event) => event.kind === "upstream_error");
  const entry = await row(url, failed);
  expect(entry.action).toBe("continue");
  expect(entry.outcome.response).toBeUndefined();
});
