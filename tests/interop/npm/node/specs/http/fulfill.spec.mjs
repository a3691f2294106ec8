import { expect, fresh, row, seenUpstream, test, answered } from "../../lib/fixtures.mjs";

test("fulfill gives fetch the mock, and history the mock's owner", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(url, (route) =>
    route.fulfill({ status: 201, headers: { "x-mock": "yes" }, json: { mocked: true } }),
  );
  const outcome = await app.fetch(url);
  expect(outcome.status).toBe(201);
  expect(outcome.headers["x-mock"]).toBe("yes");
  expect(outcome.headers["content-type"]).toContain("application/json");
  expect(JSON.parse(outcome.body)).toEqual({ mocked: true });
  expect(await seenUpstream(url)).toEqual([]);
  const entry = await row(url);
  expect(entry).toMatchObject({ action: "fulfill", clientId: "app" });
  expect(entry.title).toContain("fulfill gives fetch the mock");
  expect(entry.path).toContain("fulfill.spec.mjs");
  expect(entry.outcome).toMatchObject({ kind: "mocked", testId: entry.testId });
  expect(entry.outcome.response.status).toBe(201);
  expect(Buffer.from(entry.outcome.response.bodyBase64, "base64").toString()).toContain("mocked");
  expect(entry.events.map((event) => event.kind).slice(0, 2)).toEqual(["observed", "fulfill"]);
  expect(entry.durationMs).toBeGreaterThanOrEqual(0);
});

test("fulfill reaches http.request as well", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ body: "plain", contentType: "text/plain" }));
  const outcome = await app.http(url);
  expect(outcome).toMatchObject({ status: 200, body: "plain" });
  expect(outcome.headers["content-type"]).toContain("text/plain");
});

test("fulfill keeps bytes that are no text", async ({ app, backendMocks }) => {
  const url = fresh("json");
  const bytes = Buffer.from([0, 255, 254, 10, 13, 128, 195, 40]);
  await backendMocks.route(url, (route) => route.fulfill({ body: bytes }));
  expect((await app.fetch(url)).bodyBase64).toBe(bytes.toString("base64"));
});

test("the handler sees the request as the app sent it", async ({ app, backendMocks }) => {
  const url = fresh("echo", "?a=1");
  let request;
  await backendMocks.route(url, async (route, seen) => {
    request = {
      url: seen.url(),
      method: seen.method(),
      header: await seen.headerValue("x-app"),
      data: seen.postDataJSON(),
      clientId: seen.clientId,
    };
    await route.fulfill({ status: 204 });
  });
  const body = JSON.stringify({ name: "\u00e9\ud83d\ude00" });
  const outcome = await app.fetch(url, { method: "POST", headers: { "X-App": "1" }, body });
  expect(outcome.status).toBe(204);
  const data = { name: "\u00e9\ud83d\ude00" };
  expect(request).toEqual({ url, method: "POST", header: "1", data, clientId: "app" });
});

test("times: the second request goes on to the network", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ body: "mock" }), { times: 1 });
  expect((await app.fetch(url)).body).toBe("mock");
  expect((await app.fetch(url)).body).toContain("upstream");
  expect((await row(url, answered)).action).toBe("passthrough");
});

test("times: of requests sent at once exactly one is mocked", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ body: "mock" }), { times: 1 });
  const outcomes = await app.all(Array.from({ length: 6 }, () => ({ url })));
  const bodies = outcomes.map((outcome) => outcome.body);
  expect(bodies.filter((body) => body === "mock")).toHaveLength(1);
  expect(bodies.filter((body) => body?.includes("upstream"))).toHaveLength(5);
});

test("times: an older route takes over", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ body: "always" }));
  await backendMocks.route(url, (route) => route.fulfill({ body: "twice" }), { times: 2 });
  const bodies = [];
  for (let count = 0; count < 4; count += 1) bodies.push((await app.fetch(url)).body);
  expect(bodies).toEqual(["twice", "twice", "always", "always"]);
});

test("sixty requests at once each get their own answer", async ({ app, backendMocks }) => {
  const base = fresh("json");
  await backendMocks.route(`${base}/**`, (route, request) => route.fulfill({ body: request.url() }));
  const urls = Array.from({ length: 60 }, (_, index) => `${base}/${index}`);
  const outcomes = await app.all(urls.map((url) => ({ url })));
  expect(outcomes.map((outcome) => outcome.body)).toEqual(urls);
});
