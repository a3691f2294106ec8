/* The parts that decide without a proxy. */
import assert from "node:assert/strict";
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PerformanceObserver, constants } from "node:perf_hooks";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

const require = createRequire(import.meta.url);
const { Matcher } = require("../src/arguments/matcher.js");
const { allMet } = require("../src/arguments/value-checks.js");
const { tagsOf } = require("../src/fixtures/browser-contexts.js");
const { harEntries } = require("../src/har/har-entries.js");
const { HarFile } = require("../src/har/har-file.js");
const { ackTimeoutMs } = require("../src/settings.js");
const { ProxyClock, beginTurn, now, turnBegan } = require("../src/session/proxy-clock.js");
const { whenGone } = require("../src/session/forgotten-routes.js");
const { ObservedTraffic } = require("../src/session/observed-traffic.js");
const { Questions } = require("../src/connection/questions.js");
const { WorkerConnection } = require("../src/connection/worker-connection.js");
const { Waiters } = require("../src/session/waiters.js");
const { rewriteWhole } = require("../src/whole-files.js");
const { TestErrors } = require("../src/session/test-errors.js");

test("a redirect to a part of a page is linked, whichever message comes first", () => {
  const seen = (requestId, url) => ({ requestId, clientId: "app", request: { url, method: "GET", headers: {} } });
  const moved = { status: 302, statusText: "Found", headers: { location: "/b#part" }, bodyBase64: null };
  for (const isHopFirst of [false, true]) {
    const traffic = new ObservedTraffic();
    const first = traffic.observe(seen("r1", "http://h.test/a"));
    if (!isHopFirst) traffic.respond(first, moved);
    const second = traffic.observe(seen("r2", "http://h.test/b"));
    if (isHopFirst) traffic.respond(first, moved);
    assert.equal(first.redirectedTo, second);
  }
});

test("functions get the values that the proxy sends for their places", () => {
  const found = [
    { part: "json", path: ["lines", 0], values: [{ n: 2 }] },
    { part: "query", path: ["tag"], values: ["a", "bcd"] },
  ];
  const tag = { part: "query", path: ["tag"], test: (value) => value.length > 1 };
  for (const [n, isMet] of [
    [1, false],
    [2, true],
  ]) {
    const line = { part: "json", path: ["lines", 0], test: (value) => value.n === n };
    assert.equal(allMet([tag, line], found), isMet);
  }
});

test("an origin with a wildcard gets no cookie, which is for one host", () => {
  const mocks = { id: "t1", proxy: undefined, cookie: (url) => ({ url }) };
  const origins = [
    "http://shop.test",
    "http://*.shop.test",
    "http://shop?.test",
    "http*://shop.test",
    "http://shop.test",
  ];
  assert.deepEqual(tagsOf(mocks, origins).cookies, [{ url: "http://shop.test" }]);
});

test("the environment says how long the proxy may take to acknowledge", (t) => {
  t.after(() => delete process.env.TRAFFICMOCK_ACK_TIMEOUT_MS);
  assert.equal(ackTimeoutMs(), 5000);
  process.env.TRAFFICMOCK_ACK_TIMEOUT_MS = "20000";
  assert.equal(ackTimeoutMs(), 20000);
  for (const wrong of ["0", "5s", "-1"]) {
    process.env.TRAFFICMOCK_ACK_TIMEOUT_MS = wrong;
    assert.throws(ackTimeoutMs, { name: "UsageError", message: /TRAFFICMOCK_ACK_TIMEOUT_MS must be a number/ });
  }
});

test("requests that strict mode refuses are one error for each method and URL", () => {
  const errors = new TestErrors();
  const refuse = (method, nearest, more = {}) =>
    errors.toldByProxy({
      code: "unmatched_request",
      message: `${method} http://a.test/ is not mocked. Nearest: ${nearest}.`,
      detail: { kind: "http", method, url: "http://a.test/", ...more },
    });
  refuse("GET", "one");
  refuse("GET", "another route by now");
  refuse("POST", "one");
  refuse("GET", "one", { last: true });
  const [got, posted, ...others] = errors.take();
  assert.deepEqual(others, []);
  assert.match(got.message, /Nearest: one\.\nFurther requests of this test .*\n2 more requests met the same\./);
  assert.match(posted.message, /^POST .*\nNearest: one\.$/);
});

test("matchers are sent so that the proxy can read them, or has to ask", () => {
  const baseURL = "http://shop.test/v1/";
  const wire = (given) => new Matcher(given, { baseURL }).wire;
  assert.deepEqual(wire("/prices/*"), { urlGlob: "/prices/*", baseUrl: baseURL });
  assert.deepEqual(wire(/x/gi), { urlRegex: { source: "x", flags: "gi" } });
  assert.deepEqual(wire({ method: "get", clientId: ["a", "b"] }), { methods: ["GET"], clientIds: ["a", "b"] });
  assert.deepEqual(
    wire(() => true),
    { predicate: true },
  );
  assert.throws(() => wire({ path: "/x" }), /keys url, method, clientId, .*not path/);
  assert.throws(() => wire(3), /not number/);
});

test("a function that returns a promise accepts nothing, but is an error", () => {
  const found = [{ part: "json", path: ["n"], values: [1] }];
  const slow = new Matcher({ matchJson: { n: async (n) => n > 1 } });
  assert.throws(() => slow.matchesValues(found), { name: "UsageError", message: /no promise/ });
  assert.throws(() => new Matcher(async () => Promise.reject(new Error())).matchesUrl("http://a.test/"), /no promise/);
  assert.ok(new Matcher({ matchJson: { n: (n) => n } }).matchesValues(found));
});

test("a stateful regular expression judges each URL from its start", () => {
  const matcher = new Matcher(/price/g);
  assert.ok(matcher.matchesUrl("http://a.test/price"));
  assert.ok(matcher.matchesUrl("http://a.test/price"));
});

test("the proxy gets the entries of a HAR that a route needs, with their bodies", async () => {
  const entry = (method, url, response = {}) => ({
    time: 1,
    request: { method, url: `http://a.test/${url}`, cookies: [] },
    response: { status: 200, ...response },
  });
  const sent = async (entries, matcher = /^/, rules = {}) => {
    const read = async (name) => {
      if (name === "body") return Buffer.from("from a file");
      throw new Error(`no file ${name}`);
    };
    return harEntries({ entries: async () => entries, read }, new Matcher(matcher), rules);
  };
  const urlsOf = (made) => made.map((each) => each && each.request.url.slice(-1));
  const given = [entry("GET", "b"), entry("GET", "a"), entry("PUT", "a"), null, { request: {} }];
  assert.deepEqual(urlsOf(await sent(given, { url: /\/a$/, method: "get" })), [null, "a", null, null, null]);
  assert.deepEqual(urlsOf(await sent(given, () => false)), ["b", "a", "a", null, null]);
  const moved = entry("GET", "a", { status: 302, headers: [{ name: "location", value: "/b" }] });
  assert.deepEqual(urlsOf(await sent([moved, entry("GET", "b")], /\/a$/)), ["a", null]);
  const follows = { followRedirects: true };
  assert.deepEqual(urlsOf(await sent([moved, entry("GET", "b")], /\/a$/, follows)), ["a", "b"]);
  const file = (name) => entry("GET", name, { content: { _file: name } });
  const [body, missing] = await sent([file("body"), file("missing")]);
  assert.deepEqual(body.request, { method: "GET", url: "http://a.test/body" });
  assert.deepEqual(body.response, {
    status: 200,
    content: { text: Buffer.from("from a file").toString("base64"), encoding: "base64" },
  });
  assert.deepEqual(missing.response.content, { unreadable: "no file missing" });
});

test("a moment is converted to the earliest time that the proxy's clock may have had", () => {
  const ours = new ProxyClock(1500, { asked: 1000, answered: 2000 });
  // Another machine's clock, which stood at 90,000 some time before 2,000 here.
  const another = new ProxyClock(90_000, { asked: 1000, answered: 2000 });
  const [since, drift] = [8000, 8];
  assert.deepEqual(
    [ours, another].map((clock) => clock.timeOf(10_000)),
    [10_000, 90_000 + since - drift],
  );
  assert.deepEqual(
    [ours, another].map((clock) => clock.elapsed(5000)),
    [3500, 3000],
  );
});

/** A session that keeps what it sends. */
function sessionOf(requests = []) {
  const sent = [];
  const connection = { questions: new Questions(1000), send: (message) => sent.push(message) };
  connection.ask = WorkerConnection.prototype.ask;
  const traffic = { requests: new Map(requests.map((each) => [each.id, each])), latest: requests.at(-1)?.id };
  const views = { request: (state) => state, response: (state) => state };
  const registration = { clock: new ProxyClock(0, { asked: 0, answered: 0 }) };
  const send = (message) => connection.send(message);
  return { id: "t1", connection, sent, send, traffic, views, registration, http: { problemOf: () => "" } };
}

const CUP = { id: "r1", url: "http://h.test/cup", method: "POST", clientId: "shop" };
CUP.response = { url: CUP.url, request: CUP };

test("the proxy is told what a test waits for, and its answer ends the wait", async () => {
  const session = sessionOf([CUP]);
  const waiters = new Waiters(session);
  const waits = [
    waiters.wait("request", "**/cup", { timeout: 99.5 }),
    waiters.wait("response", Boolean, { timeout: 0 }),
  ];
  const [first, second] = session.sent;
  assert.deepEqual(
    [first.testId, first.kind, first.matcher, first.timeoutMs, first.after],
    ["t1", "request", { urlGlob: "**/cup" }, 100, "r1"],
  );
  assert.ok(Number.isSafeInteger(first.since));
  assert.deepEqual([second.kind, second.matcher, second.timeoutMs], ["response", { predicate: true }, undefined]);
  const { questions } = session.connection;
  for (const { waitId } of session.sent) assert.ok(questions.answered({ type: "wait:met", waitId, requestId: "r1" }));
  assert.deepEqual(await Promise.all(waits), [CUP, CUP.response]);
  assert.equal(waiters.open.size, 0);
});

test("a wait judges what the proxy cannot compare: the URL, and not the method and the client", async () => {
  const session = sessionOf([
    { ...CUP, response: { url: `${CUP.url}s`, request: CUP } },
    { ...CUP, id: "r2", response: { url: `${CUP.url}/2`, request: CUP } },
    { ...CUP, id: "r3" },
  ]);
  const waiters = new Waiters(session);
  const waits = [
    waiters.wait("response", { url: /\/cup$/, method: "put", clientId: "other" }),
    waiters.wait("request", async ({ id }) => id === "r3"),
  ];
  const [{ waitId: response }, { waitId: request }] = session.sent.splice(0);
  for (const waitId of [response, request]) {
    for (const requestId of ["r1", "r2", "r3"]) await waiters.judge({ waitId, requestId });
  }
  assert.deepEqual(
    session.sent.splice(0).map(({ type, waitId, requestId, met }) => [type, waitId, requestId, met]),
    [response, request].flatMap((waitId) =>
      ["r1", "r2", "r3"].map((requestId) => ["wait:judged", waitId, requestId, requestId === "r3"]),
    ),
  );
  waiters.end();
  await Promise.all(waits.map((wait) => assert.rejects(wait, /the test ended while waiting for/)));
  await waiters.judge({ waitId: request, requestId: "r1" });
  assert.deepEqual(session.sent, []);
});

test("a wait that is given up is taken back from the proxy", async () => {
  const session = sessionOf([CUP]);
  const waiters = new Waiters(session);
  const stop = new AbortController();
  const aborted = waiters.wait("request", "**/cup", { signal: stop.signal });
  const thrown = waiters.wait("request", () => assert.fail("no predicate"));
  const ids = session.sent.splice(0).map(({ waitId }) => waitId);
  stop.abort();
  await assert.rejects(aborted, { name: "TestEndedError" });
  await waiters.judge({ waitId: ids[1], requestId: "r1" });
  await assert.rejects(thrown, /no predicate/);
  assert.deepEqual(
    session.sent,
    ids.map((waitId) => ({ type: "wait:cancel", waitId })),
  );
});

test("what a message of the proxy resumes belongs to the turn that handled it", async () => {
  beginTurn();
  const began = turnBegan();
  await Promise.resolve();
  while (now() === began);
  beginTurn();
  assert.equal(turnBegan(), began);
  await new Promise(setImmediate);
  assert.ok(turnBegan() > began);
});

test("a turn that was blocked does not count from its beginning", async () => {
  beginTurn();
  const blocked = turnBegan();
  while (now() - blocked < 20_000);
  assert.ok(turnBegan() - blocked >= 20_000);
  await new Promise(setImmediate);
});

test("one collection of garbage looks for the routes of all requests that wait", async (t) => {
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    const major = list.getEntries().filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
    collections += major.length;
  });
  observer.observe({ entryTypes: ["gc"] });
  t.after(() => observer.disconnect());
  const kept = Array.from({ length: 50 }, () => ({}));
  // Its route may be collected once it does not wait any more.
  const forgotten = function () {
    assert.ok(!this.isWaiting, "its route is kept");
  };
  const waiting = kept.map(() => ({ isWaiting: true, forgotten }));
  kept.forEach((route, index) => whenGone(route, waiting[index]));
  // An earlier handler's route goes, and the next handler keeps its own.
  whenGone({}, waiting[0]);
  whenGone(kept[0], waiting[0]);
  let gone = 0;
  whenGone({}, { isWaiting: true, forgotten: () => (gone += 1) });
  await new Promise((resolve) => setTimeout(resolve, 250));
  assert.equal(gone, 1);
  assert.ok(collections < 5, `${collections} collections`);
  for (const each of waiting) each.isWaiting = false;
  // What is not used after a turn may be collected before it.
  assert.equal(kept.length, 50);
  assert.equal(globalThis.gc ?? runInNewContext("typeof gc"), "undefined");
});

test("a file that cannot be replaced, as one that is mounted alone, is written in its place", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "trafficmock-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "a.har");
  const path = require.resolve("../src/whole-files.js");
  let code = "EBUSY";
  t.mock.method(require("node:fs"), "renameSync", () => {
    throw Object.assign(new Error(code), { code });
  });
  delete require.cache[path];
  const fresh = require(path);
  assert.throws(() => fresh.rewriteWhole(file, "new"), { code });
  writeFileSync(file, "old");
  fresh.rewriteWhole(file, "new");
  assert.equal(readFileSync(file, "utf8"), "new");
  code = "ENOSPC";
  assert.throws(() => fresh.rewriteWhole(file, "newer"), { code });
  assert.equal(readFileSync(file, "utf8"), "new");
  assert.deepEqual(readdirSync(folder), ["a.har"]);
});

test("a file that is written whole keeps its permissions and its links, and leaves no draft", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "trafficmock-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [file, link] = [join(folder, "a.har"), join(folder, "link")];
  symlinkSync("a.har", link);
  rewriteWhole(link, "first");
  assert.equal(readFileSync(file, "utf8"), "first");
  for (const mode of [0o600, 0o666]) {
    chmodSync(file, mode);
    rewriteWhole(link, "new");
    assert.equal(readFileSync(file, "utf8"), "new");
    assert.equal(statSync(file).mode & 0o777, mode);
  }
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.throws(() => rewriteWhole(folder, "text"), { code: "EISDIR" });
  assert.throws(() => rewriteWhole(file, /** @type {any} */ ({})), TypeError);
  assert.equal(readFileSync(file, "utf8"), "new");
  assert.deepEqual(readdirSync(folder).sort(), ["a.har", "link"]);
  rewriteWhole("/dev/null", "gone");
  assert.ok(statSync("/dev/null").isCharacterDevice());
});

test("a HAR may begin with a byte order mark, in UTF-8 and UTF-16", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "har-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "some.har");
  const text = '\ufeff{"log":{"entries":[{"comment":"é"}]}}';
  const utf16 = Buffer.from(text, "utf16le");
  for (const bytes of [Buffer.from(text), utf16, Buffer.from(utf16).swap16()]) {
    writeFileSync(file, bytes);
    assert.deepEqual(await new HarFile(file).entries(), [{ comment: "é" }]);
  }
});

test("a body in a file keeps its coding", async () => {
  const body = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
  const content = { mimeType: "text/plain", _coding: "zstd", _file: "a.bin" };
  const entry = { request: { method: "GET", url: "http://h.test/" }, response: { status: 200, content } };
  const store = { entries: async () => [entry], read: async () => body };
  const [{ response: sent }] = await harEntries(store, new Matcher(/./));
  assert.equal(sent.content._coding, "zstd");
  assert.equal(sent.content.text, body.toString("base64"));
});

test("entries are wanted by their URLs as agents send them", async () => {
  const entry = { request: { method: "GET", url: "HTTP://H.test:80#x" }, response: { status: 200 } };
  const store = { entries: async () => [entry], read: async () => Buffer.alloc(0) };
  assert.deepEqual(await harEntries(store, new Matcher(/^http:\/\/h\.test\/$/)), [
    { request: { method: "GET", url: "HTTP://H.test:80#x" }, response: { status: 200 } },
  ]);
});

test("a glob that begins with a host instead of a scheme is noticed", () => {
  const baseURL = "http://127.0.0.1:5000";
  for (const [glob, noticed] of [
    ["partner.example/slow", true],
    ["localhost:3000/**", true],
    ["/partner.example/slow", false],
    ["index.html", false],
    ["https://partner.example/slow", false],
    ["**/slow", false],
  ]) {
    const { hint } = new Matcher(glob, { baseURL });
    assert.equal(hint.includes(`so it is a path of the base URL ${baseURL}`), noticed, glob);
  }
  assert.match(
    new Matcher("a.example/b").hint,
    /and there is no base URL: for a host, write "https:\/\/a\.example\/b"/,
  );
});
