import { agent, expect, fresh, row, seenUpstream, test } from "../../lib/fixtures.mjs";

/** Our agent fails a request as Node itself does. */
const NODE_CODES = {
  failed: "ECONNRESET",
  aborted: "ECONNABORTED",
  timedout: "ETIMEDOUT",
  connectionrefused: "ECONNREFUSED",
  connectionreset: "ECONNRESET",
  namenotresolved: "ENOTFOUND",
};

const failureOf = {
  npm: (code, text) => ({ name: "BackendMocksNetworkError", code, message: `net::ERR_${text}` }),
  ours: (code) => ({ name: "Error", code: NODE_CODES[code] }),
}[agent];

const thrown = {
  npm: (message) => ({ code: "failed", message }),
  ours: (message) => ({ code: "ECONNRESET", message: `read ECONNRESET: ${message}` }),
}[agent];

async function expectAbort(app, backendMocks, code, text) {
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.abort(code));
  const [byFetch, byHttp] = [await app.fetch(url), await app.http(url)];
  const cause = failureOf(code, text);
  expect(byFetch.error.cause).toMatchObject(cause);
  expect(byHttp.error).toMatchObject(cause);
  expect(await seenUpstream(url)).toEqual([]);
  const entry = await row(url);
  expect(entry.action).toBe("abort");
  expect(entry.outcome).toEqual({ kind: "aborted", errorCode: code });
  expect(entry.title).toContain(`abort: ${code}`);
}

test("abort: failed", async ({ app, backendMocks }) => {
  await expectAbort(app, backendMocks, "failed", "FAILED");
});

test("abort: aborted", async ({ app, backendMocks }) => {
  await expectAbort(app, backendMocks, "aborted", "ABORTED");
});

test("abort: timedout", async ({ app, backendMocks }) => {
  await expectAbort(app, backendMocks, "timedout", "TIMED_OUT");
});

test("abort: connectionrefused", async ({ app, backendMocks }) => {
  await expectAbort(app, backendMocks, "connectionrefused", "CONNECTION_REFUSED");
});

test("abort: connectionreset", async ({ app, backendMocks }) => {
  await expectAbort(app, backendMocks, "connectionreset", "CONNECTION_RESET");
});

test("abort: namenotresolved", async ({ app, backendMocks }) => {
  await expectAbort(app, backendMocks, "namenotresolved", "NAME_NOT_RESOLVED");
});

test("a handler that throws fails the request with its text", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(url, () => {
    throw new Error("the handler broke");
  });
  const outcome = await app.fetch(url);
  expect(outcome.error.cause).toMatchObject(thrown("the handler broke"));
  expect(
    backendMocks
      .takeErrors()
      .map((error) => error.message)
      .join(),
  ).toContain("the handler broke");
  const entry = await row(url);
  expect(entry.outcome).toEqual({ kind: "aborted", errorCode: "failed" });
});

test("a request after a throwing handler is answered", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ body: "mock" }));
  const broken = () => Promise.reject(new Error("once"));
  await backendMocks.route(url, broken, { times: 1 });
  expect((await app.fetch(url)).error.cause).toMatchObject(thrown("once"));
  expect((await app.fetch(url)).body).toBe("mock");
  expect(backendMocks.takeErrors()).toHaveLength(1);
});
