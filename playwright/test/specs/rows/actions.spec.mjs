/** What handlers do with a request: let it go on, or fail it. */
import { errorOf, expect, test } from "../../lib/row.mjs";

const CODES = {
  failed: "failed",
  aborted: "aborted",
  timedout: "timedout",
  connectionrefused: "connectionrefused",
  connectionreset: "connectionreset",
  namenotresolved: "namenotresolved",
  accessdenied: "failed",
  internetdisconnected: "failed",
};

/** Let a handler act on a request to the echo page; give what upstream saw. */
async function echoOf(t, action, command) {
  const url = t.url("echo");
  await t.trafficmock.route(url, action);
  const outcome = await t.get(url, command);
  expect(outcome).toHaveProperty("body");
  return JSON.parse(outcome.body);
}

/** `continue` changes URL, method, headers and body. */
test("actions_continue_with_all_overrides", async ({ t }) => {
  const changes = {
    url: t.url("echo", "?changed"),
    method: "PUT",
    headers: { "x-new": "1", gone: undefined },
    postData: { a: [1] },
  };
  const act = (route) => route.continue(changes);
  const seen = await echoOf(t, act, { method: "POST", headers: { "x-old": "1" }, body: "b" });
  expect([seen.method, seen.body]).toEqual(["PUT", '{"a":[1]}']);
  expect(seen.path).toMatch(/\?changed$/);
  expect(seen.headers).toMatchObject({ "x-new": "1", "content-length": "9" });
  expect(seen.headers).not.toHaveProperty("x-old");
});

/** Headers that handlers cannot set keep the original's values. */
test("actions_continue_keeps_forbidden_headers", async ({ t }) => {
  const headers = { cookie: "evil=1", "Sec-Thing": "evil", referer: "evil", x: "1" };
  const sent = { cookie: "a=1", "sec-thing": "kept", y: "2" };
  const seen = await echoOf(t, (route) => route.continue({ headers }), { headers: sent });
  expect(seen.headers).toMatchObject({ cookie: "a=1", "sec-thing": "kept", x: "1" });
  expect(seen.headers).not.toHaveProperty("referer");
  expect(seen.headers).not.toHaveProperty("y");
});

/** An empty body is no body; other falsy values change nothing. */
test("actions_continue_without_body", async ({ t, trafficmock }) => {
  const bodies = [];
  await trafficmock.route(t.url("echo"), async (route, request) => {
    bodies.push(request.postData());
    await route.continue({ postData: "" });
  });
  const seen = await echoOf(t, (route) => route.fallback({ postData: 0 }), { method: "POST", body: "b" });
  expect(bodies).toEqual(["b"]);
  expect(seen.body).toBe("");
});

/** Another scheme and a header value that is no string are refused, and undecided. */
test("actions_continue_refuses", async ({ t }) => {
  const errors = [];
  const act = async (route) => {
    for (const bad of [{ url: "https://h.test/" }, { headers: { x: 1 } }, { url: "nonsense" }]) {
      errors.push(await errorOf(() => route.continue(bad)));
    }
    await route.continue({ method: "" });
  };
  expect((await echoOf(t, act)).method).toBe("GET");
  expect(errors.map(({ name }) => name)).toEqual(["UsageError", "UsageError", "UsageError"]);
  expect(errors[0].message).toContain("same protocol");
});

/** Six codes reach the application; Playwright's others are `failed`. */
test("actions_abort_codes", async ({ t, trafficmock }) => {
  for (const [code, expected] of Object.entries(CODES)) {
    const url = t.url("echo", `?${code}`);
    await trafficmock.route(url, (route) => route.abort(code));
    expect(await t.get(url)).toHaveProperty("error");
    const [entry] = await t.recorded(url);
    expect(entry.outcome.errorCode, code).toBe(expected);
  }
});

/** A code that Playwright does not have is refused at the call, and the route stays open. */
test("actions_unknown_abort_code", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const errors = [];
  await trafficmock.route(url, async (route) => {
    errors.push(await errorOf(() => route.abort("nonsense")));
    await route.abort("timedout");
  });
  expect(await t.get(url)).toHaveProperty("error");
  expect(errors).toHaveLength(1);
  expect(errors[0].message).toContain('abort: "nonsense" is not an error code');
});

/** An aborted request has no response. */
test("actions_response_of_an_aborted_request", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.route(url, (route) => route.abort());
  const request = await t.expect("request", url, () => t.get(url));
  expect(await request.response()).toBeNull();
});
