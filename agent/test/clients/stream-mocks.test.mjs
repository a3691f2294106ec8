import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { after, before, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { everyUndici } from "../lib/clients.mjs";
import { STREAM_FEATURES, beginStream, mockStream, mockStreams } from "../lib/mocked-streams.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startRelay } from "../lib/relay.mjs";
import { clientOfFetch, clientOfRequest, deferred, next, rest, startStage, streamingClients } from "../lib/streams.mjs";
import { startWorker } from "../lib/worker.mjs";

const PIECE = 256 * 1024;
const WINDOW = 1024 * 1024;
const { "undici iterable": _, "undici request": __, ...libraries } = await streamingClients();
const undicis = await everyUndici();
const clients = { ...libraries };
for (const [version, undici] of Object.entries(undicis)) {
  clients[`${version} fetch`] = clientOfFetch(undici.fetch);
  clients[`${version} request`] = clientOfRequest(undici);
}

describe("a test writes an answer piece by piece", () => {
  let proxy, stage, worker, agent;
  let count = 0;
  const fresh = (name) => `/${name}-${count++}`;
  before(async () => {
    proxy = await startProxy();
    stage = await startStage();
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url, STREAM_FEATURES);
  });
  after(async () => {
    worker.close();
    await agent.stop();
    await stage.stop();
    await proxy.stop();
  });

  for (const [name, { call }] of Object.entries(clients)) {
    test(`${name}: the head and each piece are with the application before the next one is sent`, async () => {
      const path = fresh("tokens");
      const stream = await mockStream(worker, path, { status: 201 });
      const { status, chunks } = await call(stage.url + path);
      assert.equal(status, 201);
      for (const token of ["Hel", "lo", "!"]) {
        await stream.send(token);
        assert.equal(await next(chunks), token);
      }
      await stream.end();
      assert.equal((await rest(chunks)).length, 0);
      assert.equal(stage.saw(path), false);
    });

    test(`${name}: an answer that breaks off fails as that of a server that breaks off`, async () => {
      for (const [errorCode, breakOff] of [
        ["connectionreset", (res) => res.socket.resetAndDestroy()],
        ["failed", (res) => res.destroy()],
      ]) {
        const real = fresh("real");
        const reading = call(stage.url + real);
        const { res } = await stage.request(real);
        res.write("first");
        const fromServer = await reading;
        assert.equal(await next(fromServer.chunks), "first");
        breakOff(res);
        const expected = await failure(rest(fromServer.chunks));

        const path = fresh("broken");
        const stream = await mockStream(worker, path);
        const mocked = await call(stage.url + path);
        await stream.send("first");
        assert.equal(await next(mocked.chunks), "first");
        await stream.abort(errorCode);
        assert.deepEqual(await failure(rest(mocked.chunks)), expected, errorCode);
      }
    });

    test(`${name}: an application that closes the answer ends the stream`, async () => {
      const path = fresh("closed");
      const stream = await mockStream(worker, path);
      const { chunks, close } = await call(stage.url + path);
      await stream.send("first");
      assert.equal(await next(chunks), "first");
      await close();
      assert.equal((await stream.closed()).reason, "application");
    });

    test(`${name}: an application that aborts its request ends the stream`, async () => {
      const path = fresh("aborted");
      const stream = await mockStream(worker, path);
      const given = new AbortController();
      const { chunks } = await call(stage.url + path, { signal: given.signal });
      await stream.send("first");
      assert.equal(await next(chunks), "first");
      given.abort();
      assert.equal((await stream.closed()).reason, "application");
      await assert.rejects(rest(chunks));
    });

    test(`${name}: what the application does not read is not acknowledged`, async () => {
      const path = fresh("slow");
      const stream = await mockStream(worker, path);
      const { chunks } = await call(stage.url + path);
      for (let sent = 0; sent < WINDOW; sent += PIECE) await stream.write(Buffer.alloc(PIECE, sent / PIECE));
      // The agent takes the messages in their order, so it has all pieces when it has this one.
      const later = fresh("later");
      const other = await mockStream(worker, later);
      const response = await fetch(stage.url + later);
      await other.send("x");
      assert.ok(!(await stream.told()).includes(WINDOW / PIECE));
      await response.body.cancel();
      const ended = stream.acknowledged(WINDOW / PIECE).then(() => stream.end());
      const body = await rest(chunks);
      await ended;
      assert.equal(body.length, WINDOW);
      for (let at = 0; at < WINDOW; at += PIECE) assert.equal(body[at], at / PIECE);
    });
  }

  const MS = 250;
  const limited = {
    "node:http": (url) =>
      new Promise((resolve, reject) => {
        const req = http.get(url, (res) => resolve({ chunks: res[Symbol.asyncIterator]() }));
        req.on("error", reject).setTimeout(MS, () => req.destroy(new Error("too late")));
      }),
    ...Object.fromEntries(
      Object.entries(undicis).flatMap(([version, { Agent, fetch, request }]) => [
        [`${version} request`, (url) => clientOfRequest({ request }).call(url, { bodyTimeout: MS })],
        [
          `${version} fetch`,
          (url) => clientOfFetch(fetch).call(url, { dispatcher: new Agent({ bodyTimeout: MS, headersTimeout: 0 }) }),
        ],
      ]),
    ),
  };
  for (const [name, call] of Object.entries(limited)) {
    test(`${name}: the time limit between two parts is as with a server that goes silent`, async () => {
      const real = fresh("real");
      const reading = call(stage.url + real);
      const { res } = await stage.request(real);
      res.write("first");
      const fromServer = await reading;
      assert.equal(await next(fromServer.chunks), "first");
      const expected = await failure(rest(fromServer.chunks));

      const path = fresh("silent");
      const stream = await mockStream(worker, path);
      const sending = stream.send("first");
      const mocked = await call(stage.url + path);
      await sending;
      assert.equal(await next(mocked.chunks), "first");
      assert.deepEqual(await failure(rest(mocked.chunks)), expected);
      assert.equal((await stream.closed()).reason, "application");
    });
  }

  test("undici does not count the time in which the application does not read", async () => {
    const reads = Object.values(undicis).map(async (undici) => {
      const { call } = clientOfRequest(undici);
      const unread = fresh("unread");
      const full = await mockStream(worker, unread);
      const writing = Array.from({ length: WINDOW / PIECE }, () => full.write(Buffer.alloc(PIECE)));
      const { chunks } = await call(stage.url + unread, { bodyTimeout: 4 * MS });
      await Promise.all(writing);
      const silent = fresh("silent");
      await mockStream(worker, silent);
      const other = await call(stage.url + silent, { bodyTimeout: 6 * MS });
      await assert.rejects(rest(other.chunks), { code: "UND_ERR_BODY_TIMEOUT" });
      await full.end();
      assert.equal((await rest(chunks)).length, WINDOW);
    });
    await Promise.all(reads);
  });

  for (const [version, undici] of Object.entries(undicis)) {
    test(`${version}: stream and pipeline get as much as their reader takes`, async () => {
      const path = fresh("piped");
      await mockStreams(worker, path, async (stream) => {
        let sent = 0;
        for (let piece = 0; piece < 8; piece += 1) sent = await stream.write(Buffer.alloc(PIECE / 2));
        await stream.acknowledged(sent);
        await stream.end();
      });
      let size = 0;
      const slow = () =>
        new Writable({
          highWaterMark: 1,
          write(chunk, _, done) {
            size += chunk.length;
            setImmediate(done);
          },
        });
      await undici.stream(stage.url + path, { method: "GET" }, slow);
      assert.equal(size, WINDOW);
      await pipeline(undici.pipeline(stage.url + path, { method: "GET" }, ({ body }) => body).end(), slow());
      assert.equal(size, 2 * WINDOW);
    });
  }

  test("headers are those of a chunked answer, and none says a length", async () => {
    const path = fresh("headers");
    const stream = await mockStream(worker, path, { headers: { "content-length": "3", "x-own": "1" } });
    const response = await fetch(stage.url + path);
    await stream.end();
    assert.deepEqual(Object.fromEntries(response.headers), { "transfer-encoding": "chunked", "x-own": "1" });
    assert.equal(await response.text(), "");
  });

  test("what has no body is complete with its head", async () => {
    for (const [method, status] of [
      ["HEAD", 200],
      ["GET", 204],
      ["GET", 304],
    ]) {
      const path = fresh("bodiless");
      const stream = await mockStream(worker, path, { status });
      const response = await fetch(stage.url + path, { method });
      assert.equal(response.status, status);
      assert.equal(await response.text(), "");
      await stream.send("ignored");
      await stream.end();
    }
  });

  for (const [name, { call }] of Object.entries(clients)) {
    test(`${name}: an answer that breaks off as soon as it begins fails`, async () => {
      const path = fresh("at-once");
      const stream = await mockStream(worker, path);
      const breaking = stream.write("first").then(() => stream.abort("connectionreset"));
      const failed = assert.rejects(call(stage.url + path).then(({ chunks }) => rest(chunks)));
      await Promise.all([breaking, failed]);
    });
  }

  test("an answer begins after the application was given a socket", async () => {
    const path = fresh("thinks");
    const decide = deferred();
    await worker.routeGlob(`**${path}`, decide.resolve);
    const req = http.get(stage.url + path);
    const answered = once(req, "response");
    await once(req, "socket");
    const stream = beginStream(worker, await decide.promise);
    const sending = stream.send("first");
    const [response] = await answered;
    const chunks = response[Symbol.asyncIterator]();
    assert.equal(await next(chunks), "first");
    await sending;
    await stream.send("second");
    assert.equal(await next(chunks), "second");
    response.destroy();
    assert.equal((await stream.closed()).reason, "application");
  });

  test("pieces that come before the end are read after it", async () => {
    const path = fresh("ahead");
    const stream = await mockStream(worker, path);
    const { chunks } = await clients["node:http"].call(stage.url + path);
    const size = WINDOW / PIECE;
    for (let sent = 0; sent < size; sent += 1) await stream.write(Buffer.alloc(PIECE));
    await stream.end();
    assert.equal((await rest(chunks)).length, WINDOW);
  });
});

describe("a lost connection breaks a streamed answer off", () => {
  let proxy;
  before(async () => {
    proxy = await startProxy();
  });
  after(() => proxy.stop());
  for (const [name, { call }] of Object.entries(clients)) {
    test(name, async (t) => {
      const relay = await startRelay(proxy.url);
      const agent = await startTrafficMock({ proxyUrl: relay.url, clientId: "app" });
      const worker = await startWorker(proxy.url, STREAM_FEATURES);
      t.after(async () => {
        worker.close();
        await agent.stop();
      });
      const stream = await mockStream(worker, "/lost");
      const { chunks } = await call("http://nowhere.test/lost");
      await stream.send("first");
      assert.equal(await next(chunks), "first");
      await relay.cut();
      await assert.rejects(rest(chunks));
      assert.equal((await stream.closed()).reason, "agent");
    });
  }

  test("also that of an agent that is stopped", async (t) => {
    const agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    const worker = await startWorker(proxy.url, STREAM_FEATURES);
    t.after(() => worker.close());
    const stream = await mockStream(worker, "/stopped");
    const { chunks } = await clients["node:http"].call("http://nowhere.test/stopped");
    await stream.send("first");
    await agent.stop();
    await assert.rejects(rest(chunks), { code: "ECONNRESET", message: "aborted" });
    assert.equal((await stream.closed()).reason, "agent");
  });
});

/** What the application can tell of an error, also of its cause. */
async function failure(promise) {
  const tell = ({ name, code, message, cause }) => ({ name, code, message, ...(cause && { cause: tell(cause) }) });
  return promise.then(
    () => "no failure",
    (error) => tell(error),
  );
}
