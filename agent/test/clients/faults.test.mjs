import assert from "node:assert/strict";
import net from "node:net";
import { after, before, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { deferred, next, rest, streamingClients } from "../lib/streams.mjs";
import { startWorker } from "../lib/worker.mjs";

const PART = "first";
const WHOLE = `${PART} and second`;
const HEAD = "HTTP/1.1 200 OK\r\n";
const CHUNKED = "transfer-encoding: chunked";
/** Bytes in a second; the body has more than three pieces of 50 ms. */
const PER_SECOND = 100;
const AT_LEAST_MS = 140;
const { "undici iterable": _, ...clients } = await streamingClients();

/** How a real server does each fault, after the head and a part of the body; and how that answer is framed. */
const REAL = {
  connection_reset: { framing: `content-length: ${WHOLE.length}`, breakOff: (socket) => socket.resetAndDestroy() },
  truncated: { framing: `content-length: ${WHOLE.length}`, breakOff: (socket) => socket.end() },
  malformed_chunk: {
    framing: CHUNKED,
    breakOff: (socket) => socket.end("no size of a chunk\r\n"),
  },
};

describe("an answer with a fault fails as the answer of a server that has it", () => {
  let proxy, server, worker, agent;
  before(async () => {
    proxy = await startProxy();
    server = await startBreaking();
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url, { features: ["chain"] });
  });
  after(async () => {
    worker.close();
    await agent.stop();
    await server.stop();
    await proxy.stop();
  });

  /** Break the answer of the real server, which would be whole. */
  const broken = async (path, fault) => {
    const ids = [];
    await worker.routeGlob(`**${path}`, ({ requestId, result }) => {
      ids.push(requestId);
      result({ action: "continue", fault });
    });
    const report = () => worker.waitFor("request:response", ({ requestId }) => ids.includes(requestId));
    return { url: server.url + path, report };
  };

  const mocked = async (path, fault) => {
    const response = { status: 200, statusText: "", headers: {}, bodyBase64: Buffer.from(WHOLE).toString("base64") };
    await worker.routeGlob(`**${path}`, ({ result }) => result({ action: "fulfill", response, fault }));
    return server.url + path;
  };

  for (const [name, { call }] of Object.entries(clients)) {
    for (const kind of Object.keys(REAL)) {
      test(`${name}: ${kind}`, async () => {
        const real = await call(`${server.url}/${kind}`);
        assert.equal(await next(real.chunks), PART);
        server.breakOff(kind);
        const expected = await failure(rest(real.chunks));
        const url = await mocked(`/mock-${kind}-${name}`.replaceAll(/[ :]/g, "-"), { kind, after: PART.length });
        const shown = await failure(call(url).then(({ chunks }) => rest(chunks)));
        assert.notEqual(shown, "no failure");
        assert.deepEqual(shown, expected);
        const way = await broken(`/whole-${kind}-${name}`.replaceAll(/[ :]/g, "-"), { kind, after: PART.length });
        assert.deepEqual(await failure(call(way.url).then(({ chunks }) => rest(chunks))), expected);
        const { ok, error } = await way.report();
        assert.equal(ok, false);
        assert.equal(error.message, `the fault ${kind} of the test, after ${PART.length} bytes of the body`);
      });
    }

    test(`${name}: as slowly as the test says`, async () => {
      const path = `/whole-rate-${name}`.replaceAll(/[ :]/g, "-");
      await worker.routeGlob(`**${path}`, ({ result }) => result({ action: "continue", rate: PER_SECOND }));
      const began = performance.now();
      const { chunks } = await call(server.url + path);
      const pieces = await all(chunks);
      assert.equal(pieces.join(""), WHOLE);
      assert.deepEqual(pieces[0].length, PER_SECOND / 20);
      assert.ok(performance.now() - began >= AT_LEAST_MS);
    });

    test(`${name}: no answer of the real server`, async () => {
      const expected = await failure(call(`${server.url}/empty_response`));
      const empty = await broken(`/whole-empty-${name}`.replaceAll(/[ :]/g, "-"), { kind: "empty_response" });
      assert.deepEqual(withoutPort(await failure(call(empty.url))), withoutPort(expected));
      const reset = await broken(`/whole-reset-${name}`.replaceAll(/[ :]/g, "-"), { kind: "connection_reset" });
      assert.match(JSON.stringify(await failure(call(reset.url))), /ECONNRESET/);
    });

    test(`${name}: the real server's body without its end`, async () => {
      const cut = await broken(`/chunked-${name}`.replaceAll(/[ :]/g, "-"), { kind: "truncated" });
      const shown = await failure(call(cut.url).then(({ chunks }) => rest(chunks)));
      assert.notEqual(shown, "no failure");
      const { error } = await cut.report();
      assert.match(error.message, new RegExp(`after ${WHOLE.length} bytes`));
      const behind = await broken(`/whole-behind-${name}`.replaceAll(/[ :]/g, "-"), { kind: "stall", after: 1000 });
      assert.equal((await all((await call(behind.url)).chunks)).join(""), WHOLE);
    });

    test(`${name}: empty_response`, async () => {
      const expected = await failure(call(`${server.url}/empty_response`));
      const url = await mocked(`/mock-empty-${name}`.replaceAll(/[ :]/g, "-"), { kind: "empty_response" });
      assert.deepEqual(withoutPort(await failure(call(url))), withoutPort(expected));
    });

    test(`${name}: stall`, async () => {
      const url = await mocked(`/mock-stall-${name}`.replaceAll(/[ :]/g, "-"), { kind: "stall", after: PART.length });
      const given = new AbortController();
      const { chunks } = await call(url, { signal: given.signal });
      assert.equal(await next(chunks), PART);
      const waiting = failure(rest(chunks));
      given.abort();
      assert.notEqual(await waiting, "no failure");
    });
  }
});

/** A server that writes the head and a part of an answer, and waits to break it off. */
async function startBreaking() {
  const waiting = new Map();
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (data) => {
      const kind = /^GET \/(\w+)/.exec(data.toString("latin1"))?.[1] ?? "";
      if (kind === "empty_response") return socket.end();
      if (kind === "chunked") return socket.end(`${HEAD}${CHUNKED}\r\n\r\n${chunkOf(WHOLE)}0\r\n\r\n`);
      if (kind === "whole") return socket.end(`${HEAD}content-length: ${WHOLE.length}\r\n\r\n${WHOLE}`);
      const { framing } = REAL[kind];
      const part = framing === CHUNKED ? chunkOf(PART) : PART;
      socket.write(`${HEAD}${framing}\r\n\r\n${part}`);
      waiting.set(kind, socket);
    });
  });
  const listening = deferred();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    breakOff: (kind) => REAL[kind].breakOff(waiting.get(kind)),
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

const chunkOf = (text) => `${text.length.toString(16)}\r\n${text}\r\n`;

async function all(chunks) {
  const pieces = [];
  for await (const chunk of chunks) pieces.push(Buffer.from(chunk).toString());
  return pieces;
}

/** What the application can tell of an error, also of its cause. */
async function failure(promise) {
  const tell = ({ name, code, message, cause }) => ({ name, code, message, ...(cause && { cause: tell(cause) }) });
  return promise.then(
    () => "no failure",
    (error) => tell(error),
  );
}

/** An error of which the text has neither the address nor the path of its request. */
const withoutPort = (error) => JSON.parse(JSON.stringify(error).replaceAll(/http:\/\/127[^ "]*/g, "URL"));
