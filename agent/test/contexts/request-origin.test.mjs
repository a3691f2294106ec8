/* Where a request without a context is sent from. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const { RequestOrigin } = require("../../src/contexts/request-origin.js");
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
