/* Tests that run in the process of the application: whose context a request has, by where it is made. */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import http from "node:http";
import { createRequire } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const { TestContexts } = require("../../src/contexts/test-contexts.js");
const { hookRepeatedTimers } = require("../../src/contexts/repeated-timers.js");
const { OwnServers } = require("../../src/http/own-servers.js");

const [A, B] = ["a", "b"].map((letter) => letter.repeat(32));

/** @returns {any} contexts of a process, outside of those of this test */
const start = () => new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
const later = () => new Promise((resolve) => setImmediate(resolve));
const idOf = (contexts) => contexts.current()?.id;

/** Begin a test as the test library does: it is current before anything is awaited. */
async function connect(contexts, id) {
  const mine = contexts.tests.begin(id);
  mine.enter();
  await later();
  return mine;
}

/** Call a function as a runner does, whose own continuation does not follow it. */
const asRunner = (act) => later().then(act);

test("tests at the same time are current in what they start, and only there", async () => {
  const contexts = start();
  const seen = [];
  const body = async (id) => {
    const mine = await connect(contexts, id);
    seen.push([id, idOf(contexts)]);
    await new Promise((resolve) => setTimeout(() => resolve(seen.push([id, idOf(contexts)])), 2));
    await Promise.all([later().then(() => seen.push([id, idOf(contexts)]))]);
    return mine;
  };
  const mine = await Promise.all([A, B].map((id) => asRunner(() => body(id))));
  assert.equal(seen.length, 6);
  for (const [id, found] of seen) assert.equal(found, id);
  assert.equal(idOf(contexts), undefined, "of two tests, neither is guessed");
  for (const one of mine) one.end();
});

test("where a hook began it, the only test counts; from its first call on, only where it runs", async () => {
  const contexts = start();
  const mine = await asRunner(() => connect(contexts, A));
  assert.equal(contexts.storage.getStore(), undefined, "the hook's context is not that of the test");
  assert.equal(idOf(contexts), A);
  const background = new EventEmitter();
  void once(background, "tick").then(() => background.emit("seen", idOf(contexts)));
  await asRunner(async () => {
    mine.claim();
    await later();
    assert.equal(idOf(contexts), A);
  });
  const seen = once(background, "seen");
  background.emit("tick");
  assert.deepEqual(await seen, [undefined]);
  mine.end();
  assert.equal(idOf(contexts), undefined);
});

test("a test that has ended gives its place to the next, and keeps what it left behind", async () => {
  const contexts = start();
  const undo = hookRepeatedTimers(contexts);
  const ticks = new EventEmitter();
  let timer;
  const first = await asRunner(async () => {
    const mine = await connect(contexts, A);
    timer = setInterval(() => ticks.emit("tick", idOf(contexts)), 1);
    mine.end();
    const next = contexts.tests.begin(B);
    next.claim();
    assert.equal(idOf(contexts), B);
    return next;
  });
  assert.deepEqual(await once(ticks, "tick"), [A]);
  clearInterval(timer);
  first.end();
  undo();
});

test("a test within another one gives it back", async () => {
  const contexts = start();
  const outer = await connect(contexts, A);
  const inner = await connect(contexts, B);
  outer.claim();
  assert.equal(idOf(contexts), B, "the outer one does not take what is the inner one's");
  inner.leave();
  inner.end();
  assert.equal(idOf(contexts), A);
  assert.equal(
    inner.run(() => idOf(contexts)),
    B,
  );
  outer.leave();
  outer.end();
});

test("a request to a server here runs in the test that it names, as long as that lasts", async () => {
  const contexts = start();
  const mine = contexts.tests.begin(A);
  const [req, res] = [new EventEmitter(), new EventEmitter()];
  const within = contexts.enter(req, { baggage: `trafficmock.test=${A}` }, res, () => contexts.current());
  assert.equal(within, mine.context);
  res.emit("close");
  assert.equal(mine.context.closedAt, undefined);
  const foreign = contexts.enter(new EventEmitter(), {}, new EventEmitter(), () => contexts.current());
  assert.equal(foreign, undefined, "a request from elsewhere is not the only test's");
  mine.end();
  assert.notEqual(mine.context.closedAt, undefined);
});

test("servers are known while they listen, those of before too", async (t) => {
  const listening = async () => {
    const server = http.createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    return { server, url: new URL(`http://127.0.0.1:${server.address().port}/`) };
  };
  const before = await listening();
  const { listen } = http.Server.prototype;
  const servers = new OwnServers();
  const undo = servers.install();
  const since = await listening();
  for (const { url } of [before, since]) {
    assert.ok(servers.has(url));
    for (const host of ["localhost", "shop.localhost", "[::1]", "127.0.0.2"]) {
      assert.ok(servers.has(new URL(`ws://${host}:${url.port}`)), host);
    }
    assert.ok(!servers.has(new URL(`http://shop:${url.port}`)));
  }
  assert.ok(!servers.has(new URL("https://localhost")));
  since.server.close();
  await once(since.server, "close");
  assert.ok(!servers.has(since.url));
  assert.equal(servers.calledPort(since.url), Number(since.url.port), "it was called");
  assert.equal(servers.calledPort(new URL(`http://shop:${since.url.port}`)), undefined);
  undo();
  assert.equal(http.Server.prototype.listen, listen);
});
