import assert from "node:assert/strict";
import http from "node:http";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import tls from "node:tls";
import v8 from "node:v8";
import { startTrafficMock } from "../../index.mjs";
import { HELLO_OK, startFakeProxy } from "../lib/fake-proxy.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

const require = createRequire(import.meta.url);
const { Link } = require("../../src/protocol/link.js");
const { mockSocket } = require("../../src/http/mock-socket.js");
const { KeepAlive } = require("../../src/process/keep-alive.js");

/* What keeps a mocked request cheap for the application's process. */

v8.setFlagsFromString("--allow-natives-syntax");
const isFast = new Function("object", "return %HasFastProperties(object)");
const isAlike = new Function("one", "other", "return %HaveSameMap(one, other)");

describe("a mocked request", () => {
  let proxy, worker, agent;
  before(async () => {
    proxy = await startProxy();
    worker = await startWorker(proxy.url);
    await worker.routeGlob("**/mocked", (route) => route.text("mocked"));
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "cost" });
  });
  after(async () => {
    await agent.stop();
    worker.close();
    await proxy.stop();
  });

  test("is no object whose properties V8 looks up in a table", async () => {
    const req = await new Promise((resolve, reject) => {
      const asked = http.get("http://shop.test/mocked", (response) =>
        response.resume().on("end", () => resolve(asked)),
      );
      asked.on("error", reject);
    });
    assert.ok(isFast(req));
  });
});

test("all mock sockets of a kind have one shape", () => {
  for (const isEncrypted of [false, true]) {
    const [one, other] = [1, 2].map(() => mockSocket(isEncrypted, { host: "shop.test", port: 443 }));
    assert.equal(one instanceof tls.TLSSocket, isEncrypted);
    assert.ok(isFast(one));
    assert.ok(isAlike(one, other));
  }
});

describe("the link", () => {
  let proxy, link, writes;
  before(async () => {
    proxy = await startFakeProxy(HELLO_OK);
    await new Promise((resolve, reject) => {
      link = new Link(
        { proxyUrl: proxy.url, hello: { role: "node", features: [] }, open: (_isSecure, act) => act() },
        { up: resolve, message() {}, down: reject },
      );
      link.open();
    });
    const { transport } = link;
    const { _writev: write } = transport;
    writes = 0;
    transport._writev = (...args) => {
      writes += 1;
      return write.apply(transport, args);
    };
  });
  after(() => proxy.stop());

  const sent = () => proxy.seen.filter(({ type }) => type === "said").map(({ n }) => n);

  test("writes the messages of a turn at once, in their order", async () => {
    for (const n of [1, 2, 3]) link.send({ type: "said", n });
    assert.equal(writes, 0);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(writes, 1);
    while (sent().length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(sent(), [1, 2, 3]);
  });

  test("has written them when it is closed, since the process may end", () => {
    writes = 0;
    link.send({ type: "said", n: 4 });
    link.close();
    assert.equal(writes, 1);
  });
});

test("the process is kept alive by one timer, however many requests are held one after another", () => {
  const keepAlive = new KeepAlive();
  keepAlive.hold();
  const { timer } = keepAlive;
  keepAlive.hold();
  keepAlive.release();
  assert.equal(timer.hasRef(), true);
  keepAlive.release();
  assert.equal(timer.hasRef(), false);
  keepAlive.hold();
  assert.equal(keepAlive.timer, timer);
  assert.equal(timer.hasRef(), true);
  keepAlive.release();
});
