import { agent, expect, fixture, fresh, ours, row, test } from "../../lib/fixtures.mjs";

/** Our fixture refuses such a mock at the call, so that the handler fails; the npm one sends it, and the proxy refuses. */
const REFUSED =
  fixture === "ours" ? { kind: "aborted", errorCode: "failed" } : { kind: "error", code: "handler_failed" };

async function refused(ownApp, backendMocks, options) {
  ours("the app process ends, or the request hangs");
  const app = await ownApp();
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill(options));
  const outcome = await app.fetch(url);
  expect(outcome.error).toBeDefined();
  await expect.poll(() => backendMocks.takeErrors().length).toBeGreaterThan(0);
  expect((await row(url)).outcome).toMatchObject(REFUSED);
  await app.alive();
}

async function withoutBody(ownApp, backendMocks, status) {
  ours("the app process ends");
  const app = await ownApp();
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ status, body: "not allowed here" }));
  expect(await app.fetch(url)).toMatchObject({ status, bodyLength: 0 });
  expect(await app.http(url)).toMatchObject({ status, bodyLength: 0 });
  await app.alive();
}

test("a body with 204 is left out", async ({ backendMocks, ownApp }) => {
  await withoutBody(ownApp, backendMocks, 204);
});

test("a body with 205 is left out", async ({ backendMocks, ownApp }) => {
  await withoutBody(ownApp, backendMocks, 205);
});

test("a body with 304 is left out", async ({ backendMocks, ownApp }) => {
  await withoutBody(ownApp, backendMocks, 304);
});

test("a length that is not the body's is corrected, and trailers are not announced", async ({
  backendMocks,
  ownApp,
}) => {
  ours("the request hangs, or the app process ends");
  const app = await ownApp();
  // The npm agent gets a handler's length as it was written.
  const lengths = agent === "ours" ? [{ "content-length": "3" }, { "content-length": "50" }] : [];
  for (const headers of [...lengths, { trailer: "x-sum" }]) {
    const url = fresh("json");
    await backendMocks.route(url, (route) => route.fulfill({ headers, body: "five." }));
    expect(await app.fetch(url)).toMatchObject({ status: 200, body: "five." });
    expect(await app.http(url)).toMatchObject({ status: 200, body: "five." });
  }
  await app.alive();
});

test("the npm agent gets the length that a handler wrote", async ({ backendMocks, ownApp }) => {
  test.skip(agent === "ours", "our agent gets the length of the body");
  const app = await ownApp();
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ headers: { "content-length": "2" }, body: "abcd" }));
  expect((await app.fetch(url)).headers["content-length"]).toBe("2");
});

test("a status below 200 is refused", async ({ backendMocks, ownApp }) => {
  await refused(ownApp, backendMocks, { status: 101 });
});

test("a status of 600 is refused", async ({ backendMocks, ownApp }) => {
  await refused(ownApp, backendMocks, { status: 600 });
});

test("an empty header name is refused", async ({ backendMocks, ownApp }) => {
  await refused(ownApp, backendMocks, { headers: { "": "x" } });
});

test("a header name with a blank is refused", async ({ backendMocks, ownApp }) => {
  await refused(ownApp, backendMocks, { headers: { "x y": "x" } });
});

test("a header value with a line feed is refused", async ({ backendMocks, ownApp }) => {
  await refused(ownApp, backendMocks, { headers: { "x-mock": "a\nb" } });
});

test("a header value with a carriage return is refused", async ({ backendMocks, ownApp }) => {
  await refused(ownApp, backendMocks, { headers: { "x-mock": "a\rb" } });
});

test("a header value with a NUL is refused", async ({ backendMocks, ownApp }) => {
  await refused(ownApp, backendMocks, { headers: { "x-mock": "a\0b" } });
});

test("a header value outside Latin-1 is refused", async ({ backendMocks, ownApp }) => {
  await refused(ownApp, backendMocks, { headers: { "x-mock": "\u20ac" } });
});

test("several cookies joined by line feeds still reach the app", async ({ backendMocks, ownApp }) => {
  ours("the app process ends");
  const app = await ownApp();
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ headers: { "set-cookie": "a=1\nb=2" }, body: "cookies" }));
  const outcome = await app.fetch(url);
  expect(outcome.body).toBe("cookies");
  expect(outcome.setCookie.join(", ")).toBe("a=1, b=2");
});
