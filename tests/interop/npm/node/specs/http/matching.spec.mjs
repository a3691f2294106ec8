import { expect, fresh, test, upstreamUrl } from "../../lib/fixtures.mjs";

const mock = (body) => (route) => route.fulfill({ body });

test("a glob matches the whole URL, and nothing near it", async ({ app, backendMocks }) => {
  const base = fresh("json");
  await backendMocks.route(`${base}/*/user{s,}`, mock("mock"));
  expect((await app.fetch(`${base}/a/users`)).body).toBe("mock");
  expect((await app.fetch(`${base}/a/user`)).body).toBe("mock");
  expect((await app.fetch(`${base}/a/users?x=1`)).body).toContain("upstream");
  expect((await app.fetch(`${base}/a/b/users`)).body).toContain("upstream");
});

test("a glob without a host matches on any", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(`**${new URL(url).pathname}`, mock("mock"));
  expect((await app.fetch(url)).body).toBe("mock");
  expect((await app.fetch(`${url}/more`)).body).toContain("upstream");
});

test("a regular expression decides", async ({ app, backendMocks }) => {
  const url = fresh("json");
  const id = new URL(url).pathname.split("/").pop();
  await backendMocks.route(new RegExp(`${id.toUpperCase()}/(a|b)\\d+$`, "i"), mock("mock"));
  expect((await app.fetch(`${url}/a12`)).body).toBe("mock");
  expect((await app.fetch(`${url}/c12`)).body).toContain("upstream");
});

test("a predicate decides in the worker", async ({ app, backendMocks }) => {
  const url = fresh("json");
  const wanted = new URL(url).pathname;
  await backendMocks.route((seen) => seen.pathname === wanted && seen.searchParams.has("m"), mock("mock"));
  expect((await app.fetch(`${url}?m=1`)).body).toBe("mock");
  expect((await app.fetch(url)).body).toContain("upstream");
});

test("method and client filters decide", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route({ url, method: ["put", "DELETE"] }, mock("method"));
  await backendMocks.route({ url, clientId: "somebody-else" }, mock("client"));
  expect((await app.fetch(url, { method: "PUT" })).body).toBe("method");
  expect((await app.fetch(url)).body).toContain("upstream");
});

test("two apps: each route decides for its client", async ({ app, backendMocks, ownApp }) => {
  const other = await ownApp();
  const url = fresh("json");
  await backendMocks.route({ url, clientId: ["app", "somebody-else"] }, mock("for app"));
  await backendMocks.route({ url, clientId: other.clientId }, mock("for the other"));
  expect((await app.fetch(url)).body).toBe("for app");
  expect((await other.fetch(url)).body).toBe("for the other");
});

test("unroute and unrouteAll hold from the next request on", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(url, mock("older"));
  const newer = mock("newer");
  await backendMocks.route(url, newer);
  expect((await app.fetch(url)).body).toBe("newer");
  await backendMocks.unroute(url, newer);
  expect((await app.fetch(url)).body).toBe("older");
  await backendMocks.unrouteAll();
  expect((await app.fetch(url)).body).toContain("upstream");
});

test("a route that is no glob is refused before anything is sent", async ({ backendMocks }) => {
  await expect(async () => backendMocks.route(`${upstreamUrl}/{a,{b}}`, mock("never"))).rejects.toThrow(/nested/i);
});

test("fallback hands on to the next older route", async ({ app, backendMocks }) => {
  const url = fresh("json");
  const order = [];
  await backendMocks.route(url, (route) => {
    order.push("oldest");
    return route.fulfill({ body: "oldest" });
  });
  await backendMocks.route(url, (route) => {
    order.push("middle");
    return route.fallback();
  });
  await backendMocks.route(url, (route) => {
    order.push("newest");
    return route.fallback();
  });
  expect((await app.fetch(url)).body).toBe("oldest");
  expect(order).toEqual(["newest", "middle", "oldest"]);
});

test("fallback's overrides reach the older route", async ({ app, backendMocks }) => {
  const url = fresh("echo");
  await backendMocks.route(url, (route, request) =>
    route.fulfill({
      json: { method: request.method(), header: request.headers()["x-changed"], data: request.postData() },
    }),
  );
  await backendMocks.route(url, (route) =>
    route.fallback({ method: "PUT", headers: { "x-changed": "yes" }, postData: "changed" }),
  );
  const outcome = await app.fetch(url, { method: "POST", body: "original" });
  expect(JSON.parse(outcome.body)).toEqual({ method: "PUT", header: "yes", data: "changed" });
});

test("an exhausted chain goes to the network with what was changed", async ({ app, backendMocks }) => {
  const url = fresh("echo");
  await backendMocks.route(url, (route) => route.fallback({ postData: "changed" }));
  const outcome = await app.fetch(url, { method: "POST", body: "original" });
  expect(JSON.parse(outcome.body).body).toBe("changed");
});
