/* Where a request without a context is sent from. */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import http from "node:http";
import { createRequire } from "node:module";
import { test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { HELLO_OK, startFakeProxy } from "../lib/fake-proxy.mjs";

const require = createRequire(import.meta.url);
const { RequestOrigin } = require("../../src/contexts/request-origin.js");
const { sitesOf } = require("../../src/process/callers.js");
const { TestContexts } = require("../../src/contexts/test-contexts.js");

const BUY = { method: "POST", path: "/buy?card=4242", at: 1 };

/** The origin that a request of this code has. */
function told(requests = {}) {
  return new RequestOrigin(requests, told).toWire();
}

/** The origin of a stack that is given. */
function toldOf(lines, requests = {}) {
  const origin = new RequestOrigin(requests, toldOf);
  origin.callers = { stack: ["", ...lines].map((line) => `    at ${line}`).join("\n") };
  return origin.toWire();
}

test("the call of the application and the latest request with a context are told, without its query", () => {
  const origin = told({ carried: BUY });
  assert.match(origin.place, /request-origin\.test\.mjs:\d+/);
  assert.deepEqual(origin.carried, { method: "POST", path: "/buy", at: 1 });
});

test("a timer is known by Node's frames", async () => {
  const origin = await new Promise((done) => setTimeout(() => done(told()), 1));
  assert.equal(origin.kind, "timer");
});

test("the library is the package that the application called, or fetch, or node:http", () => {
  for (const [library, line] of [
    ["axios", "dispatch (/app/node_modules/axios/lib/a.js:1:2)"],
    ["fetch", "fetch (node:internal/deps/undici/undici:1:2)"],
    ["node:http", "request (node:http:1:2)"],
  ]) {
    const origin = toldOf([line, "async buy (file:///app/shop/buy.mjs:31:7)", "/app/index.js:1:1"]);
    assert.deepEqual(origin, { kind: "code", library, place: "shop/buy.mjs:31 in buy" });
  }
});

test("a library for queues, a schedule and a module that is loaded say what runs the code", () => {
  for (const [kind, name, line] of [
    ["queue", "bullmq", "Worker.processJob (/app/node_modules/bullmq/dist/worker.js:1:2)"],
    ["timer", "node-cron", "Task.run (/app/node_modules/node-cron/task.js:1:2)"],
    ["main", undefined, "Module._compile (node:internal/modules/cjs/loader:1:2)"],
  ]) {
    const origin = toldOf(["job (/app/jobs.js:3:1)", line]);
    assert.deepEqual([origin.kind, origin.name], [kind, name]);
  }
});

test("a request whose context is over, and one that came without, are told", () => {
  assert.equal(told({ past: BUY }).kind, "expired");
  assert.equal(told({ past: BUY }).inbound.path, "/buy");
  assert.equal(told({ without: BUY }).kind, "request");
});

test("a library that runs code without a context says why", () => {
  const { kind, name, inbound } = told({ without: { kind: "batch", name: "dataloader" } });
  assert.deepEqual([kind, name, inbound], ["batch", "dataloader", undefined]);
});

test("an event of a connection is known by Node's frames behind the application, with its library", () => {
  const app = "reply (/app/reply.js:3:1)";
  const read = "TCP.onStreamRead (node:internal/stream_base_commons:191:23)";
  const client = "Socket.<anonymous> (/app/node_modules/ioredis/built/DataHandler.js:29:25)";
  assert.deepEqual(
    [toldOf([app, client, read])].map(({ kind, name }) => [kind, name]),
    [["connection", "ioredis"]],
  );
  assert.equal(toldOf([app, read]).kind, "connection");
  assert.equal(toldOf(["connect (node:net:1:2)", app]).kind, "code");
});

test("nothing is kept of a request that has a context", () => {
  const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
  const enter = (headers, act) =>
    contexts.enter(Object.assign(new EventEmitter(), { method: "GET", url: "/" }), headers, new EventEmitter(), act);
  const originOf = () => contexts.originOf(contexts.current(), originOf);
  assert.equal(enter({ cookie: `trafficmock_test=${"a".repeat(32)}` }, originOf), undefined);
  assert.equal(enter({}, originOf).toWire().kind, "request");
  assert.equal(enter({}, originOf).toWire().carried.path, "/");
});

test("stacks are read without their text, unless the application makes another one of them", () => {
  const origin = () => new RequestOrigin({}, origin);
  assert.ok(sitesOf(origin().callers)?.length > 0);
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (error, sites) => `mapped\n    at src (/srv/shop/src/buy.ts:7:1)\n${sites.length}`;
  const its = Error.prepareStackTrace;
  try {
    assert.equal(sitesOf(origin().callers), undefined);
    assert.match(told().place, /src\/buy\.ts:7 in src$/);
    assert.equal(Error.prepareStackTrace, its);
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
  }
  assert.equal(Error.prepareStackTrace, prepareStackTrace);
});

test("where a request comes from is found out only while the proxy wants to know", async (t) => {
  const decide = ({ type, requestId, request }) => {
    if (type !== "request:start") return [];
    const wanted = new URL(request.url).pathname.slice(1);
    return [
      { type: "origins", wanted: wanted === "begin" },
      { type: "decision:passthrough", requestId },
    ];
  };
  const features = [...HELLO_OK.features, "origins"];
  const proxy = await startFakeProxy({ ...HELLO_OK, features, origins: false }, decide);
  const attached = await startTrafficMock({ proxyUrl: proxy.url });
  const server = http.createServer((request, response) => response.end());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const capture = Error.captureStackTrace;
  let captured = 0;
  Error.captureStackTrace = (...args) => {
    if (Error.stackTraceLimit === 50) captured += 1;
    return capture(...args);
  };
  t.after(async () => {
    Error.captureStackTrace = capture;
    await attached.stop();
    server.close();
    await proxy.stop();
  });
  const url = `http://127.0.0.1:${server.address().port}`;
  const counts = [];
  for (const path of ["idle", "begin", "end", "idle"]) {
    captured = 0;
    await (await fetch(`${url}/${path}`)).text();
    const byFetch = captured;
    const [response] = await once(http.get(`${url}/${path}`), "response");
    await once(response.resume(), "end");
    counts.push([byFetch, captured - byFetch]);
  }
  assert.deepEqual(counts, [
    [0, 0],
    [0, 1],
    [1, 0],
    [0, 0],
  ]);
  const told = proxy.seen.filter(({ type }) => type === "request:start").map(({ origin }) => origin?.library);
  const none = undefined;
  assert.deepEqual(told, [none, none, none, "node:http", "fetch", none, none, none]);
  assert.ok(proxy.seen[0].features.includes("origins"));
});
