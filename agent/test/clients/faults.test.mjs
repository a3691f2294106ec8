import assert from "node:assert/strict";
import net from "node:net";
import { after, before, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { deferred, next, rest, streamingClients } from "../lib/streams.mjs";
import { startWorker } from "../lib/worker.mjs";

const PART = "first";
const WHOLE = `${PART} and second`;
const { "undici iterable": _, ...clients } = await streamingClients();

/** How a real server does each fault, after the head and a part of the body; and how that answer is framed. */
const REAL = {
  connection_reset: { framing: `content-length: ${WHOLE.length}`, breakOff: (socket) => socket.resetAndDestroy() },
  truncated: { framing: `content-length: ${WHOLE.length}`, breakOff: (socket) => socket.end() },
  malformed_chunk: {
    framing: "transfer-encoding: chunked",
    breakOff: (socket) => socket.end("no size of a chunk\r\n"),
  },
};

describe("a mock with a fault fails as the answer of a server that has it", () => {
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
      });
    }

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
      const { framing } = REAL[kind];
      const part = framing.includes("chunked") ? `${PART.length.toString(16)}\r\n${PART}\r\n` : PART;
      socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${part}`);
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
