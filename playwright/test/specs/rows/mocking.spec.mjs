/** `mock`: fixed answers, which the proxy gives by itself. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorOf, expect, test } from "../../lib/row.mjs";

/** `mock` answers every request with the same status, headers and body. */
test("mocking_same_answer", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.mock(url, { status: 203, headers: { "X-A": "b" }, json: { left: 2 } });
  for (let count = 0; count < 2; count++) {
    const outcome = await t.get(url);
    expect([outcome.status, JSON.parse(outcome.body)]).toEqual([203, { left: 2 }]);
    expect(outcome.headers).toMatchObject({ "content-type": "application/json", "x-a": "b" });
  }
});

/** Without a response it answers with an empty 200. */
test("mocking_empty_answer", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.mock(url);
  expect(await t.get(url)).toMatchObject({ status: 200, body: "" });
});

/** Its body is text, bytes, JSON or a file, which is read at the call. */
test("mocking_bodies", async ({ t, trafficmock, directory }) => {
  const path = join(directory, "page.html");
  await writeFile(path, "<p>");
  await trafficmock.mock(t.url("echo", "?text"), { body: "täxt", contentType: "text/x" });
  await trafficmock.mock(t.url("echo", "?bytes"), { body: Buffer.from("bytes") });
  await trafficmock.mock(t.url("echo", "?file"), { path });
  await writeFile(path, "<other>");
  const text = await t.get(t.url("echo", "?text"));
  expect([text.body, text.headers["content-type"]]).toEqual(["täxt", "text/x"]);
  expect((await t.get(t.url("echo", "?bytes"))).body).toBe("bytes");
  const html = await t.get(t.url("echo", "?file"));
  expect([html.body, html.headers["content-type"]]).toEqual(["<p>", "text/html"]);
});

/** Methods, client ids and `times` say which requests it answers, and how many. */
test("mocking_filters", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.mock({ url, clientId: "nobody" }, { body: "any" });
  await trafficmock.mock({ url, method: "POST" }, { body: "posted" });
  await trafficmock.mock({ url, method: "GET" }, { body: "twice", times: 2 });
  const bodies = [];
  for (const method of ["GET", "POST", "GET", "GET"]) bodies.push((await t.get(url, { method })).body);
  expect(bodies.slice(0, 3)).toEqual(["twice", "posted", "twice"]);
  expect(bodies[3]).toContain('"path"');
});

/** Of many requests at once it answers exactly `times`; the others go to the network. */
test("mocking_exact_times", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.mock(url, { body: "mocked", times: 3 });
  const keys = [];
  for (let count = 0; count < 8; count++) keys.push(await t.begin(url));
  const bodies = [];
  for (const key of keys) bodies.push((await t.outcome(key)).body);
  expect(bodies.filter((body) => body === "mocked")).toHaveLength(3);
});

/** The newest of handlers and mocks that match a request is asked first. */
test("mocking_newest_first", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await t.answer(url, "handler");
  await trafficmock.mock(url, { body: "mock" });
  expect((await t.get(url)).body).toBe("mock");
  await t.answer(url, "newer handler", { times: 1 });
  expect((await t.get(url)).body).toBe("newer handler");
  expect((await t.get(url)).body).toBe("mock");
});

/** A newer handler with a predicate is asked first, whether it matches or not. */
test("mocking_predicate_before_it", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.mock(`${url}*`, { body: "mock" });
  await t.answer((found) => found.href.endsWith("?picked"), "picked");
  const bodies = [];
  for (const query of ["", "?picked", "?other"]) bodies.push((await t.get(url + query)).body);
  expect(bodies).toEqual(["mock", "picked", "mock"]);
});

/** A newer handler that falls back leaves the request to it; that counts for `times`. */
test("mocking_fallback_reaches_it", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.mock(url, { body: "mock", times: 1 });
  const seen = [];
  await trafficmock.route(url, (route, request) => (seen.push(request.url()), route.fallback()));
  const response = await t.expect("response", url, () => t.get(url));
  expect(await response.text()).toBe("mock");
  expect((await t.get(url)).body).toContain('"path"');
  expect(seen).toHaveLength(2);
});

/** A request that falls back to a mock which is used up meanwhile goes to the next handler. */
test("mocking_fallback_after_the_last", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const gate = Promise.withResolvers();
  await t.answer(url, "the next");
  await trafficmock.mock(url, { body: "mock", times: 1 });
  await trafficmock.route({ url, method: "PUT" }, async (route) => {
    await gate.promise;
    await route.fallback();
  });
  const held = await t.begin(url, { method: "PUT" });
  expect((await t.get(url)).body).toBe("mock");
  gate.resolve();
  expect((await t.outcome(held)).body).toBe("the next");
});

/** `unroute` takes a mock out by its matcher, `unrouteAll` with all others. */
test("mocking_unrouted", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  for (const remove of [() => trafficmock.unroute(url), () => trafficmock.unrouteAll()]) {
    await trafficmock.mock(url, { body: "mock" });
    await remove();
    expect((await t.get(url)).body).toContain('"path"');
  }
});

/** What it answers is seen by waits and in the list of requests, with its response. */
test("mocking_seen_by_waits", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.mock(url, { status: 201, body: "mock" });
  const request = await t.expect("request", url, () => t.get(url, { method: "POST", body: "sent" }));
  expect([request.method(), request.postData()]).toEqual(["POST", "sent"]);
  const response = await t.expect("response", url, () => t.get(url));
  expect([response.status(), await response.text()]).toEqual([201, "mock"]);
  const listed = await trafficmock.requests(url);
  expect(listed.map((each) => each.method())).toEqual(["POST", "GET"]);
  for (const each of listed) expect((await each.response()).status()).toBe(201);
});

/** The history shows what it answers as fulfilled by this test. */
test("mocking_recorded_as_fulfilled", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.mock(url, { status: 201, body: "mock" });
  await t.get(url);
  const [entry] = await t.recorded(url);
  expect(entry.title).toContain("mocking_recorded_as_fulfilled");
  expect(entry.outcome).toMatchObject({ kind: "mocked", response: { status: 201 } });
});

const WRONG = [
  [{ status: 99 }, "an integer from 200 to 599, not 99"],
  [{ status: "200" }, 'an integer from 200 to 599, not "200"'],
  [{ statusText: "a\nb" }, "without control characters"],
  [{ headers: { "a b": "c" } }, '"a b" is not a header name'],
  [{ headers: { a: "b\nc" } }, "has a line break"],
  [{ headers: new Headers() }, "headers are an object of names and values, not Headers"],
  [{ contentType: 5 }, "contentType must be text"],
  [{ body: { a: 1 } }, "body must be a string or a Buffer, not object"],
  [{ json: () => 1 }, "json cannot be a function"],
  [{ json: 1, body: "x" }, "either body or json"],
  [{ path: "missing" }, "no such file"],
  [{ times: "2" }, "times is a number of requests"],
  [{ method: "POST" }, "not method; filters stand beside the url"],
  ["x", "mock: the options are an object"],
];

/** What makes no response, or no route for HTTP requests, is refused by the call. */
test("mocking_refused_at_the_call", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const given = [
    ...WRONG.map(([options, said]) => [url, options, said]),
    [{ url, method: "GE T" }, {}, '"GE T" is not a method'],
    [{ url, clientId: 7 }, {}, "clientId is a text or several, not 7"],
    [url.replace("http:", "ws:"), {}, "routeWebSocket"],
  ];
  for (const [wanted, options, said] of given) {
    expect((await errorOf(() => trafficmock.mock(wanted, options))).message).toContain(said);
  }
  expect((await t.get(url)).body).toContain('"path"');
  expect(trafficmock.takeErrors()).toEqual([]);
});
