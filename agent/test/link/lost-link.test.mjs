import assert from "node:assert/strict";
import http from "node:http";
import net from "node:net";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { WebSocket as Ws } from "ws";
import { startTrafficMock } from "../../index.mjs";
import { REQUIRE, startNode } from "../lib/child.mjs";
import { startProxy, stop, until } from "../lib/proxy.mjs";
import { startRelay } from "../lib/relay.mjs";
import { source, startStage } from "../lib/streams.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

const LOST = /^ERR_TRAFFICMOCK_(DISCONNECTED|UNREACHABLE)$/;
const codeOf = (error) => error.cause?.code ?? error.code;
const isLost = (error) => LOST.test(codeOf(error));
/** In less time than a body that does not end would be waited for. */
const soon = (promise) =>
  Promise.race([
    promise,
    new Promise((resolve, reject) => setTimeout(reject, 4000, new Error("it takes too long")).unref()),
  ]);

describe("the proxy is gone in the middle", () => {
  let proxy, relay, upstream, worker, agent, kill;
  before(async () => {
    proxy = await startProxy();
  });
  after(() => proxy.stop());
  beforeEach(async () => {
    upstream = await startUpstream();
    relay = await startRelay(proxy.url);
    agent = await startTrafficMock({ proxyUrl: relay.url, clientId: "app", webSocket: "all" });
    worker = await startWorker(proxy.url);
    kill = async () => {
      await relay.cut();
      // Until the agent has noticed, what no route can match passes.
      for (let tries = 0; !isLost(await fetch("http://nowhere.test/").catch((error) => error)); tries += 1) {
        assert.ok(tries < 100);
      }
      worker.close();
    };
  });
  afterEach(async () => {
    await agent.stop();
    await relay.cut();
    worker.close();
    await upstream.stop();
  });

  test("a response that flows already flows to its end", async () => {
    await worker.route("continued", (r) => r.continue({ headers: { "x-new": "1" } }));
    const readers = [];
    for (const open of [
      async (url) => (await fetch(url)).body,
      (url) => new Promise((resolve, reject) => http.get(url, resolve).on("error", reject)),
    ]) {
      for (const path of ["/steps", "/steps?continued"]) {
        readers.push((await open(upstream.url + path))[Symbol.asyncIterator]());
      }
    }
    for (const reader of readers) assert.equal(Buffer.from((await reader.next()).value).toString(), "data: 1\n\n");
    await kill();
    for (const reader of readers) {
      upstream.step();
      assert.equal(Buffer.from((await reader.next()).value).toString(), "data: 2\n\n");
      assert.equal((await reader.next()).done, true);
    }
  });

  test("a body that is still sent fails with its request, and so does one that begins later", async () => {
    const pending = async function* () {
      yield Buffer.from("first");
      await new Promise(() => {});
    };
    const start = () =>
      assert.rejects(fetch("http://nowhere.test/upload", { method: "POST", body: pending(), duplex: "half" }), isLost);
    await worker.route("upload", () => {});
    const told = [];
    const req = http.request("http://nowhere.test/upload", { method: "POST" }, () => told.push("response"));
    const failed = new Promise((resolve) => req.on("error", resolve));
    req.write("first");
    const viaFetch = start();
    await kill();
    // The end of the body is the latest moment at which the proxy is needed.
    req.end();
    assert.match((await failed).code, LOST);
    assert.deepEqual(told, []);
    await soon(viaFetch);
    await soon(start());
    const late = http.request("http://nowhere.test/upload", { method: "POST" });
    const lateFailed = new Promise((resolve) => late.on("error", resolve));
    late.write("first");
    assert.match((await soon(lateFailed)).code, LOST);
  });

  test("a redirect that comes afterwards fails, and nothing goes to the real network", async () => {
    const server = http
      .createServer(async (request, response) => {
        if (request.url === "/start") await kill();
        response.writeHead(302, { Location: `${upstream.url}/echo` }).end();
      })
      .listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    await assert.rejects(fetch(`http://127.0.0.1:${server.address().port}/start`), isLost);
    assert.deepEqual(upstream.seen, []);
    server.closeAllConnections();
    server.close();
  });

  test("a handler's fetch ends with its request", async () => {
    await worker.route("fetched", (r) => void r.fetch({ overrides: { url: `${upstream.url}/steps` } }).catch(() => {}));
    const failed = assert.rejects(fetch("http://nowhere.test/fetched"), isLost);
    for (const end = Date.now() + 3000; upstream.seen.length === 0 && Date.now() < end;) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await kill();
    await failed;
    upstream.step();
  });

  for (const [name, get] of Object.entries({
    ws: () => Ws,
    ...(globalThis.WebSocket && { "globalThis.WebSocket": () => globalThis.WebSocket }),
  })) {
    test(`${name}: mocked and relayed sockets close, others live on`, async () => {
      await worker.route("mocked", (route) => route.say("ws:ensureOpened"), "websocket");
      await worker.route("relayed", (route) => route.say("ws:connect"), "websocket");
      await worker.route("held", () => {}, "websocket");
      const base = upstream.url.replace("http", "ws");
      const sockets = ["mocked", "relayed", "held", "plain"].map((kind) => {
        const socket = new (get())(`${base}/ws?${kind}`);
        const events = [];
        const opened = new Promise((resolve) => {
          socket.onopen = () => {
            events.push("open");
            resolve();
          };
        });
        socket.onerror = () => events.push("error");
        const closed = new Promise((resolve) => {
          socket.onclose = ({ code }) => {
            events.push(`close ${code}`);
            resolve();
          };
        });
        const answered = new Promise((resolve) => {
          socket.onmessage = ({ data }) => resolve(data);
        });
        return { socket, events, opened, closed, answered };
      });
      const [mocked, relayed, held, plain] = sockets;
      await Promise.all([mocked.opened, relayed.opened, plain.opened]);
      await worker.waitFor("ws:matched", ({ url }) => url.includes("held"));
      await kill();
      await Promise.all([mocked.closed, relayed.closed, held.closed]);
      // Some versions of the global class tell an error before an unclean close.
      for (const { events } of [mocked, relayed]) {
        assert.deepEqual(
          events.filter((event) => event !== "error"),
          ["open", "close 1006"],
        );
      }
      assert.deepEqual(held.events, ["error", "close 1006"]);
      plain.socket.send("still here");
      assert.equal(await plain.answered, "echo still here");
      plain.socket.close();
      await plain.closed;
      const late = new (get())(`${base}/ws?late`);
      const told = [];
      await new Promise((resolve) => {
        late.onerror = () => told.push("error");
        late.onclose = ({ code }) => {
          told.push(`close ${code}`);
          resolve();
        };
      });
      assert.deepEqual(told, ["error", "close 1006"]);
    });
  }
});

test("a proxy that comes back is not told of what it does not know", async () => {
  let proxy = await startProxy();
  const stage = await startStage();
  const agent = await startTrafficMock({ proxyUrl: proxy.url });
  const { write, end, chunks } = source();
  const calling = fetch(`${stage.url}/upload`, { method: "POST", body: chunks(), duplex: "half" });
  write("one");
  const { req, res } = await stage.request("/upload");
  await stop(proxy.process, "SIGKILL");
  proxy = await startProxy("--port", new URL(proxy.url).port);
  await until(proxy, "/api/connections", ({ nodeAgents }) => nodeAgents.length === 1, 10000);
  write("two");
  end();
  assert.equal(Buffer.concat(await req.toArray()).toString(), "onetwo");
  res.end("thanks");
  assert.equal(await (await calling).text(), "thanks");
  const later = fetch(`${stage.url}/later`);
  void (await stage.request("/later")).res.end();
  await (await later).text();
  await until(proxy, "/api/history", ({ entries }) => entries.length === 1 && entries[0].outcome.response);
  assert.doesNotMatch(proxy.said(), /warn/);
  await agent.stop();
  await stage.stop();
  await proxy.stop();
});

test("the first request after a long absence of the proxy joins it at once", async () => {
  let proxy = await startProxy();
  const upstream = await startUpstream();
  const agent = await startTrafficMock({ proxyUrl: proxy.url, webSocket: "all" });
  await stop(proxy.process, "SIGKILL");
  const port = new URL(proxy.url).port;
  let attempts = 0;
  const silent = net.createServer((socket) => {
    attempts += 1;
    socket.destroy();
  });
  await new Promise((resolve) => silent.listen(Number(port), "127.0.0.1", resolve));
  // The pause before the next attempt by itself is then longer than the proxy needs to start.
  while (attempts < 6) {
    await assert.rejects(fetch(`${upstream.url}/echo`), isLost);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await new Promise((resolve) => silent.close(resolve));
  proxy = await startProxy("--port", port);
  // Its body is known at once, so it waits for nothing before its announcement.
  assert.equal((await fetch(`${upstream.url}/echo`)).status, 200);
  const socket = new Ws(`${upstream.url.replace("http", "ws")}/ws`);
  const opened = new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject));
  const answers = await Promise.all([fetch(`${upstream.url}/echo`), fetch(`${upstream.url}/echo`)]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  await opened;
  socket.terminate();
  await agent.stop();
  await upstream.stop();
  await proxy.stop();
});

test("a proxy that comes back with another token is not joined, and says why", async () => {
  let proxy = await startProxy();
  const port = new URL(proxy.url).port;
  const agent = await startTrafficMock({ proxyUrl: proxy.url, token: "old" });
  await stop(proxy.process, "SIGKILL");
  proxy = await startProxy("--port", port, "--token", "new");
  const codes = new Set();
  for (const end = Date.now() + 8000; !codes.has("ERR_TRAFFICMOCK_UNAUTHORIZED") && Date.now() < end;) {
    await fetch("http://nowhere.test/").catch((error) => codes.add(codeOf(error)));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.ok(codes.has("ERR_TRAFFICMOCK_UNAUTHORIZED"), [...codes].join());
  await agent.stop();
  await proxy.stop();
});

test("nobody's rejection stays unhandled, and what failed meanwhile is said once", async () => {
  const proxy = await startProxy();
  // Requests of every kind, without a single handler for their failure but the one that Node asks for.
  const app = await startNode(
    `
    process.on('unhandledRejection', (error) => process.send(['unhandled', error.stack]))
    process.on('uncaughtException', (error) => process.send(['uncaught', error.stack]))
    const http = require('http')
    const { request } = require('undici7')
    const go = () => {
      fetch('http://nowhere.test/a').catch(() => {})
      request('http://nowhere.test/b').catch(() => {})
      http.get('http://nowhere.test/c').on('error', () => {})
      if (globalThis.WebSocket) new WebSocket('ws://nowhere.test/d')
    }
    setInterval(go, 50)
    process.send(['ready'])`,
    { NODE_OPTIONS: REQUIRE, TRAFFICMOCK_PROXY_URL: proxy.url },
  );
  assert.deepEqual(await app.next(), ["ready"]);
  await until(proxy, "/api/history", ({ entries }) => entries.length > 3, 5000);
  await stop(proxy.process, "SIGKILL");
  const again = await startProxy("--port", new URL(proxy.url).port);
  await until(again, "/api/history", ({ entries }) => entries.length > 3, 10000);
  await app.stop();
  const { stderr, ...said } = app.said();
  assert.deepEqual(said, { stdout: "", messages: [] });
  assert.match(
    stderr,
    /^trafficmock: \d+ requests of \S+ failed before this, without the proxy, so its history lacks them\.\n$/,
  );
  await again.stop();
});
