import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { createRequire } from "node:module";
import { after, before, beforeEach, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { HELLO_OK, startFakeProxy } from "../lib/fake-proxy.mjs";

const require = createRequire(import.meta.url);
const { Agent } = require("../../src/agent.js");
const { readSettings } = require("../../src/settings.js");

const A = "a".repeat(32);
const B = "b".repeat(32);
const TRACE = `00-${"c".repeat(32)}-${"d".repeat(16)}-01`;

/** Lets everything pass. */
const decide = ({ type, requestId }) => (type === "request:start" ? [{ type: "decision:passthrough", requestId }] : []);

const ask = (url, options = {}) =>
  new Promise((resolve) => {
    http.get(url, options, (response) => response.resume().on("end", resolve)).on("error", resolve);
  });

describe("the proxy is told of what it does not see", () => {
  let proxy, attached, server, own;
  before(async () => {
    proxy = await startFakeProxy({ ...HELLO_OK, features: [...HELLO_OK.features, "seen-contexts"] }, decide);
    attached = await startTrafficMock({ proxyUrl: proxy.url, ignoreHosts: ["pay.test", "localhost"] });
    server = http.createServer(async (request, response) => {
      if (request.url !== "/") await ask(request.url.slice(1));
      response.end();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    own = `http://127.0.0.1:${server.address().port}`;
  });
  beforeEach(() => (proxy.seen.length = 0));
  after(async () => {
    await attached.stop();
    server.close();
    await proxy.stop();
  });

  /** What was told, and no other messages; a last request has come after all of it. */
  const told = async (...types) => {
    await ask(`${own}/`);
    return proxy.seen.filter(({ type }) => types.includes(type));
  };

  test("a context that comes in, once, and no trace", async () => {
    for (const headers of [
      { baggage: `trafficmock.test=${A}` },
      { cookie: `trafficmock_test=${A}` },
      { baggage: `trafficmock.test=${B}` },
      { traceparent: TRACE },
    ]) {
      await ask(`${own}/`, { headers });
    }
    assert.deepEqual(await told("context:seen"), [
      { type: "context:seen", context: A },
      { type: "context:seen", context: B },
    ]);
  });

  test("requests to ignored hosts, with their context, but none to hosts under test", async () => {
    await ask(`${own}/http://pay.test:4999/cards?n=1`, { headers: { baggage: `trafficmock.test=${A}` } });
    await ask("http://localhost:1/");
    await fetch("http://pay.test:4999/fetched", { method: "POST" }).catch(() => {});
    await once(http2.connect("http://pay.test:4999"), "error");
    const ignored = { type: "request:ignored" };
    assert.deepEqual(await told("request:ignored"), [
      { ...ignored, method: "GET", url: "http://pay.test:4999/cards?n=1", context: A },
      { ...ignored, method: "POST", url: "http://pay.test:4999/fetched" },
      { ...ignored, method: "CONNECT", url: "http://pay.test:4999/" },
    ]);
  });
});

test("a proxy that does not know of it is told nothing", async (t) => {
  const proxy = await startFakeProxy(HELLO_OK, decide);
  const attached = await startTrafficMock({ proxyUrl: proxy.url, ignoreHosts: ["pay.test"] });
  const server = http.createServer((_, response) => response.end());
  t.after(async () => {
    await attached.stop();
    server.close();
    await proxy.stop();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${server.address().port}/`;
  await ask(url, { headers: { baggage: `trafficmock.test=${A}` } });
  await ask("http://pay.test:4999/");
  await ask(url);
  assert.deepEqual(
    proxy.seen.map(({ type }) => type).filter((type) => /context|ignored/.test(type)),
    [],
  );
});

test("an agent that reads no contexts does not say that it tells of them", async (t) => {
  const proxy = await startFakeProxy(HELLO_OK, decide);
  t.after(() => proxy.stop());
  for (const [value, tells] of [
    ["0", false],
    ["1", true],
  ]) {
    process.env.TRAFFICMOCK_CONTEXT = value;
    t.after(() => delete process.env.TRAFFICMOCK_CONTEXT);
    const attached = await startTrafficMock({ proxyUrl: proxy.url });
    await attached.stop();
    assert.equal(proxy.seen.at(-1).features.includes("seen-contexts"), tells, value);
  }
});

test("what waits for a handshake does not keep a process alive that was detached", () => {
  const agent = new Agent(readSettings({ proxyUrl: "http://127.0.0.1:9" }, {}));
  agent.saw({ id: A });
  assert.equal(agent.keepAlive.holds, 1);
  agent.stop();
  assert.equal(agent.keepAlive.holds, 0);
});
