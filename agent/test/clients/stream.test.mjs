import assert from "node:assert/strict";
import http from "node:http";
import { Readable } from "node:stream";
import axios from "axios";
import { after, before, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { runNode } from "../lib/child.mjs";
import { startProxy, until } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";
import { deferred, next, rest, source, startStage, streamingClients } from "../lib/streams.mjs";

const KIB = 1024;
/** More than the sockets of both sides hold. */
const PLENTY = 64 * KIB * KIB;
const LIMITS = ["--history-body-bytes", String(64 * KIB), "--handler-body-bytes", String(512 * KIB)];
const everyClient = await streamingClients();
/** What the others stand on. */
const few = ["node:http", "fetch"];
const clients = process.env.TRAFFICMOCK_DEEP
  ? everyClient
  : Object.fromEntries(few.map((name) => [name, everyClient[name]]));

describe("bodies flow", () => {
  let proxy, stage, worker, agent;
  let count = 0;
  /** A path that no other test has. */
  const fresh = (name) => `/${name}-${count++}`;
  const row = (path, test) =>
    until(proxy, "/api/history", ({ entries }) => {
      const entry = entries.find(({ request }) => request.url === stage.url + path);
      return entry && test(entry) ? entry : undefined;
    });
  const ended = (entry) => entry.outcome.response && !entry.outcome.response.bodyPending;
  const text = (body) => Buffer.from(body.bodyBase64 ?? "", "base64").toString();
  before(async () => {
    proxy = await startProxy(...LIMITS);
    stage = await startStage();
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url);
  });
  after(async () => {
    worker.close();
    await agent.stop();
    await stage.stop();
    await proxy.stop();
  });

  for (const [name, { call }] of Object.entries(clients)) {
    test(`${name}: events reach the application one by one, and the history shows the head meanwhile`, async () => {
      const path = fresh("sse");
      const calling = call(stage.url + path);
      const { res } = await stage.request(path);
      res.writeHead(200, { "Content-Type": "text/event-stream" });
      res.write("data: 1\n\n");
      const { status, chunks } = await calling;
      assert.equal(status, 200);
      assert.equal(await next(chunks), "data: 1\n\n");
      const begun = await row(path, ({ outcome }) => outcome.response);
      assert.equal(begun.outcome.response.headers["content-type"], "text/event-stream");
      assert.equal(begun.outcome.response.bodyPending, true);
      assert.equal(
        worker.seen.some(({ type, requestId }) => type === "request:response" && requestId === begun.id),
        false,
      );
      res.end("data: 2\n\n");
      assert.equal((await rest(chunks)).toString(), "data: 2\n\n");
      const { outcome, events } = await row(path, ended);
      assert.equal(text(outcome.response), "data: 1\n\ndata: 2\n\n");
      assert.equal(outcome.response.truncated, undefined);
      assert.deepEqual(
        events.map(({ kind }) => kind),
        ["observed", "passthrough", "response"],
      );
      assert.equal(
        text((await worker.waitFor("request:response", (m) => m.requestId === begun.id)).response),
        "data: 1\n\ndata: 2\n\n",
      );
    });

    test(`${name}: the upstream sees the first of an upload before the application has the second`, async () => {
      const path = fresh("upload");
      const { write, end, chunks } = source();
      const calling = call(stage.url + path, { method: "POST", body: chunks() });
      write("one");
      const { req, res } = await stage.request(path);
      const sent = req[Symbol.asyncIterator]();
      assert.equal(await next(sent), "one");
      assert.equal((await row(path, () => true)).request.bodyPending, true);
      write("two");
      end();
      assert.equal((await rest(sent)).toString(), "two");
      res.end("thanks");
      assert.equal((await rest((await calling).chunks)).toString(), "thanks");
      const { id, request } = await row(path, ended);
      assert.equal(text(request), "onetwo");
      assert.equal(request.bodyPending, undefined);
      assert.equal(text((await worker.waitFor("request:observed", (m) => m.requestId === id)).request), "onetwo");
    });

    test(`${name}: an upload that a test owns is handed over whole`, async () => {
      const path = fresh("owned");
      const body = Buffer.alloc(400 * KIB, "abcdefg");
      const handed = deferred();
      await worker.route(path, (r) => {
        handed.resolve(Buffer.from(r.request.bodyBase64, "base64"));
        r.text("mocked");
      });
      async function* slowly() {
        for (let at = 0; at < body.length; at += 50 * KIB) {
          yield body.subarray(at, at + 50 * KIB);
          await new Promise(setImmediate);
        }
      }
      const answer = await call(stage.url + path, { method: "POST", body: slowly() });
      assert.equal((await rest(answer.chunks)).toString(), "mocked");
      assert.ok((await handed.promise).equals(body));
      assert.equal(stage.saw(path), false);
      const { request, action } = await row(path, ({ action }) => action !== "pending");
      assert.equal(action, "fulfill");
      assert.equal(request.bodyBase64, body.toString("base64"));
    });

    test(`${name}: an upload that a test sends on arrives whole`, async () => {
      const [plain, changed] = [fresh("plain"), fresh("changed")];
      await worker.route(plain, (r) => r.continue());
      await worker.route(changed, (r) => r.continue({ headers: { "x-new": "1" } }));
      for (const path of [plain, changed]) {
        const { write, end, chunks } = source();
        const calling = call(stage.url + path, { method: "POST", body: chunks() });
        write("one");
        await row(path, () => true);
        write("two");
        end();
        const { req, res } = await stage.request(path);
        assert.equal((await rest(req[Symbol.asyncIterator]())).toString(), "onetwo", path);
        res.end("done");
        assert.equal((await rest((await calling).chunks)).toString(), "done", path);
        assert.equal(text((await row(path, ended)).request), "onetwo");
      }
    });

    test(`${name}: an upload above --handler-body-bytes fails, and says why`, async () => {
      const path = fresh("large");
      await worker.route(path, (r) => r.text("never"));
      async function* endless() {
        for (;;) {
          yield Buffer.alloc(50 * KIB);
          await new Promise(setImmediate);
        }
      }
      await assert.rejects(call(stage.url + path, { method: "POST", body: endless() }), (error) =>
        /--handler-body-bytes/.test((error.cause ?? error).message),
      );
      const { outcome, request } = await row(path, ({ outcome }) => outcome.kind === "error");
      assert.match(outcome.message, /--handler-body-bytes/);
      assert.equal(request.truncated, true);
      await worker.waitFor(
        "proxy:error",
        ({ message }) => message.includes(path) && message.includes("--handler-body-bytes"),
      );
    });

    test(`${name}: long bodies are cut in the history, with their true size, and nowhere else`, async () => {
      const path = fresh("long");
      const body = Buffer.alloc(300 * KIB, "x");
      async function* upload() {
        for (let at = 0; at < body.length; at += 50 * KIB) {
          yield body.subarray(at, at + 50 * KIB);
          await new Promise(setImmediate);
        }
      }
      const calling = call(stage.url + path, { method: "POST", body: upload() });
      const { req, res } = await stage.request(path);
      assert.equal((await rest(req[Symbol.asyncIterator]())).length, body.length);
      res.end(body);
      assert.equal((await rest((await calling).chunks)).length, body.length);
      const { id, request, outcome } = await row(path, ended);
      for (const side of [request, outcome.response]) {
        assert.deepEqual([side.truncated, side.bodySize], [true, body.length]);
        assert.ok(text(side).length > 63 * KIB && text(side).length <= 64 * KIB);
      }
      const told = [
        (await worker.waitFor("request:observed", (m) => m.requestId === id)).request,
        (await worker.waitFor("request:response", (m) => m.requestId === id)).response,
      ];
      for (const side of told) {
        assert.deepEqual([side.bodyBase64, side.truncated, side.bodySize], [null, true, body.length]);
      }
      const {
        log: {
          entries: [har],
        },
      } = await proxy.get(`/api/history/${id}/har`);
      assert.equal(har.response.content.size, body.length);
      assert.equal("text" in har.response.content, false);
      assert.match(har.response.content.comment, /history-body-bytes/);
    });

    test(`${name}: an application that gives up its upload is on record`, async () => {
      const [passed, owned] = [fresh("passed"), fresh("owned")];
      await worker.route(owned, (r) => r.text("never"));
      for (const path of [passed, owned]) {
        const { write, chunks } = source();
        const control = new AbortController();
        const calling = call(stage.url + path, { method: "POST", body: chunks(), signal: control.signal });
        write("one");
        if (path === passed) {
          const { req } = await stage.request(path);
          assert.equal(await next(req[Symbol.asyncIterator]()), "one");
        } else await row(path, () => true);
        control.abort();
        await assert.rejects(calling, { name: "AbortError" });
        const { action, events, request } = await row(path, ({ events }) => events.length > (path === passed ? 2 : 1));
        assert.equal(action, path === passed ? "passthrough" : "abort");
        assert.match(events.at(-1).kind, path === passed ? /upstream_error/ : /abort/);
        assert.equal(request.bodyPending, undefined);
        assert.equal(request.truncated, true);
      }
      assert.equal(stage.saw(owned), false);
    });

    test(`${name}: an application that gives up its download is on record, with what came`, async () => {
      const path = fresh("closed");
      const calling = call(stage.url + path);
      const { req, res } = await stage.request(path);
      res.write("data: 1\n\n");
      const { chunks, close } = await calling;
      assert.equal(await next(chunks), "data: 1\n\n");
      const closed = new Promise((resolve) => req.socket.on("close", resolve));
      await close();
      await closed;
      const { outcome, events } = await row(path, ended);
      assert.equal(text(outcome.response), "data: 1\n\n");
      assert.deepEqual([outcome.response.truncated, outcome.response.bodySize], [true, 9]);
      assert.deepEqual(
        [events.at(-1).kind, events.at(-1).detail],
        ["upstream_error", "The application gave the request up"],
      );
    });

    test(`${name}: a response that the upstream breaks off is on record, with what came`, async () => {
      const path = fresh("broken");
      const calling = call(stage.url + path);
      const { res } = await stage.request(path);
      res.write("data: 1\n\n");
      const { chunks } = await calling;
      assert.equal(await next(chunks), "data: 1\n\n");
      res.destroy();
      await assert.rejects(rest(chunks));
      const { id, outcome, events } = await row(path, ended);
      assert.equal(text(outcome.response), "data: 1\n\n");
      assert.equal(outcome.response.truncated, true);
      assert.equal(events.at(-1).kind, "upstream_error");
      assert.equal((await worker.waitFor("request:response", (m) => m.requestId === id)).ok, false);
    });

    test(`${name}: who does not read is not flooded, either way`, async () => {
      const path = fresh("stalled");
      let given = 0;
      async function* plenty() {
        for (; given < PLENTY; given += 64 * KIB) yield Buffer.alloc(64 * KIB);
      }
      const calling = call(stage.url + path, { method: "POST", body: plenty() });
      const { req, res } = await stage.request(path);
      assert.ok((await settled(() => given)) < PLENTY / 2, `${given} bytes were taken though nobody reads`);
      req.resume();
      await new Promise((resolve) => req.on("end", resolve));
      let sent = 0;
      const pour = () => {
        while (sent < PLENTY && res.write(Buffer.alloc(64 * KIB))) sent += 64 * KIB;
      };
      res.on("drain", pour);
      pour();
      const { chunks, close } = await calling;
      await next(chunks);
      assert.ok((await settled(() => sent)) < PLENTY / 2, `${sent} bytes were sent though nobody reads`);
      await close();
    });
  }

  test("a form of npm undici flows with its length, and comes whole to its owner", async () => {
    const undici = await import("undici7");
    const form = () => {
      const made = new undici.FormData();
      made.append("field", "välue");
      made.append("file", new Blob([Buffer.alloc(300 * KIB, "x")], { type: "x/y" }), "näme.bin");
      return made;
    };
    const path = fresh("form");
    const calling = undici.request(stage.url + path, { method: "POST", body: form() });
    const { req, res } = await stage.request(path);
    const sent = Buffer.concat(await req.toArray());
    res.end();
    await (await calling).body.dump();
    assert.equal(req.headers["content-length"], String(sent.length));
    assert.equal(req.headers["transfer-encoding"], undefined);
    const read = await new Response(sent, { headers: { "content-type": req.headers["content-type"] } }).formData();
    assert.equal(read.get("field"), "välue");
    assert.deepEqual(
      [read.get("file").name, read.get("file").size, read.get("file").type],
      ["näme.bin", 300 * KIB, "x/y"],
    );
    const { request } = await row(path, ended);
    assert.deepEqual([request.truncated, request.bodySize], [true, sent.length]);
    const owned = fresh("owned-form");
    await worker.route(owned, (r) => r.text(String(Buffer.from(r.request.bodyBase64, "base64").length)));
    const answer = await undici.request(stage.url + owned, { method: "POST", body: form() });
    assert.equal(await answer.body.text(), String(sent.length));
    assert.equal(
      (await row(owned, ({ action }) => action === "fulfill")).request.headers["content-length"],
      String(sent.length),
    );
  });

  test("the body of a request that is redirected is known at each hop", async () => {
    for (const [client, data] of [
      ["axios", '"text"'],
      ["axios stream", Readable.from(['"te', 'xt"'])],
    ]) {
      const [path, to] = [fresh("moved"), fresh("here")];
      const calling = axios.post(stage.url + path, data, { headers: { "Content-Type": "application/json" } });
      const first = await stage.request(path);
      assert.equal((await rest(first.req[Symbol.asyncIterator]())).toString(), '"text"');
      first.res.writeHead(307, { Location: to }).end();
      const { req, res } = await stage.request(to);
      assert.equal((await rest(req[Symbol.asyncIterator]())).toString(), '"text"', client);
      res.end("done");
      assert.equal((await calling).data, "done");
      const { request, redirectedFromId } = await row(to, ended);
      assert.equal(text(request), '"text"');
      assert.equal(redirectedFromId, (await row(path, ended)).id);
    }
  });

  test("a body that fails while its request is held fails the request", async () => {
    const path = fresh("failing");
    worker.send({
      type: "route:register",
      routeId: path,
      testId: worker.testId,
      kind: "http",
      matcher: { urlGlob: stage.url + path },
    });
    await worker.waitFor("route:registered", ({ routeId }) => routeId === path);
    for (const name of ["fetch", "undici request", "undici iterable"]) {
      const { write, fail, chunks } = source();
      const calling = everyClient[name].call(stage.url + path, { method: "POST", body: chunks() });
      write("one");
      await row(path, ({ outcome }) => outcome.kind === "pending");
      fail(new Error("the disk is gone"));
      await assert.rejects(calling, (error) => /the disk is gone/.test((error.cause ?? error).message), name);
      await row(path, ({ outcome }) => outcome.kind === "aborted");
    }
  });

  test("a response whose application dies is on record", async () => {
    const path = fresh("dies");
    const code =
      "require('node:http').get(process.env.TO, (res) => res.on('data', () => process.kill(process.pid, 'SIGKILL')))";
    const running = runNode(code, { env: { TO: stage.url + path, TRAFFICMOCK_PROXY_URL: proxy.url } });
    const { res } = await stage.request(path);
    res.writeHead(200).flushHeaders();
    await row(path, ({ outcome }) => outcome.response?.bodyPending);
    res.write("data: 1\n\n");
    await running;
    const { outcome, events } = await row(path, ended);
    assert.equal(outcome.response.truncated, true);
    assert.match(events.at(-1).detail, /disconnected/);
  });

  test("an upload whose writer waits for each write comes whole to its owner", async () => {
    const path = fresh("callbacks");
    await worker.route(path, (r) => r.text(Buffer.from(r.request.bodyBase64, "base64").toString()));
    const answer = await new Promise((resolve, reject) => {
      const req = http.request(stage.url + path, { method: "POST" }, resolve).on("error", reject);
      const write = (chunk) => new Promise((done) => req.write(chunk, done));
      void write("one")
        .then(() => write("two"))
        .then(() => write(Buffer.alloc(64 * KIB, ".")))
        .then(() => req.end("three"));
    });
    const body = Buffer.concat(await answer.toArray()).toString();
    assert.equal(body.replaceAll(".", ""), "onetwothree");
  });

  test("an upload that asks before it sends is told to go on when a test owns it", async () => {
    const path = fresh("expect");
    await worker.route(path, (r) => r.text(Buffer.from(r.request.bodyBase64, "base64").toString()));
    const answer = await new Promise((resolve, reject) => {
      const req = http
        .request(stage.url + path, { method: "POST", headers: { Expect: "100-continue" } }, resolve)
        .on("error", reject);
      req.on("continue", () => req.end("asked"));
    });
    assert.equal(Buffer.concat(await answer.toArray()).toString(), "asked");
  });

  test("a head that is sent before its body is announced at once", async () => {
    const path = fresh("flushed");
    const req = http.request(stage.url + path, { method: "POST" });
    const answered = new Promise((resolve, reject) => req.on("response", resolve).on("error", reject));
    req.flushHeaders();
    const { req: seen, res } = await stage.request(path);
    res.write("first");
    const chunks = (await answered)[Symbol.asyncIterator]();
    assert.equal(await next(chunks), "first");
    req.end("second");
    assert.equal((await rest(seen[Symbol.asyncIterator]())).toString(), "second");
    res.end();
    await rest(chunks);
    assert.equal(text((await row(path, ended)).request), "second");
  });

  test("an upload that begins before the proxy is there waits for it, and keeps its process", async () => {
    const path = fresh("early");
    await worker.route(path, (r) => r.text(Buffer.from(r.request.bodyBase64, "base64").toString()));
    const code = `
      const { Readable } = require('node:stream')
      const body = Readable.from(['one', 'two'])
      const req = require('node:http').request(process.env.TO, { method: 'POST' }, async (res) => console.log(String(Buffer.concat(await res.toArray()))))
      body.pipe(req)
    `;
    const { stdout, stderr } = await runNode(code, { env: { TO: stage.url + path, TRAFFICMOCK_PROXY_URL: proxy.url } });
    assert.deepEqual([stdout, stderr], ["onetwo\n", ""]);
  });

  test("a body that is there at once goes along with its request", async () => {
    const path = fresh("small");
    const calling = fetch(stage.url + path, { method: "POST", body: "small" });
    const { req, res } = await stage.request(path);
    const entry = await row(path, () => true);
    assert.equal(text(entry.request), "small");
    await rest(req[Symbol.asyncIterator]());
    res.end();
    await (await calling).text();
  });
});

/** Wait until a number has stopped growing. */
async function settled(read) {
  for (let last = -1, same = 0; same < 10;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    same = read() === last ? same + 1 : 0;
    last = read();
  }
  return read();
}
