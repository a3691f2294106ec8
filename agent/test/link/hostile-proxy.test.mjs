import assert from "node:assert/strict";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import { WebSocket as Ws } from "ws";
import { startTrafficMock } from "../../index.mjs";
import { HELLO_OK, startFakeProxy } from "../lib/fake-proxy.mjs";

const b64 = (text) => Buffer.from(text).toString("base64");
const DEAD = "http://127.0.0.1:2/";
const OK = { status: 200, statusText: "OK", headers: {}, bodyBase64: null };
const fulfill = (response) => [{ type: "decision:fulfill", response: { ...OK, ...response } }];
const resume = (overrides) => [{ type: "decision:continue", overrides: { url: DEAD, ...overrides } }];
const stream = (...messages) => [
  { type: "decision:fulfill", stream: true, response: OK },
  ...messages.map(([type, more], index) => ({ type: `stream:${type}`, seq: index + 1, ...more })),
];
const fetched = (more) => [{ type: "decision:fetch", fetchId: "f", ...more }, ...fulfill({})];

/** What no HTTP request or response can carry, or protocol 3 does not have: the request fails. */
const FAILING = {
  "no response": [{ type: "decision:fulfill" }],
  "null response": [{ type: "decision:fulfill", response: null }],
  "status 1000": fulfill({ status: 1000 }),
  "status 0": fulfill({ status: 0 }),
  "status as text": fulfill({ status: "200" }),
  "list is no list": fulfill({ headersList: "x" }),
  "list of numbers": fulfill({ headersList: [1] }),
  "value missing": fulfill({ headersList: [["a"]] }),
  "value a number": fulfill({ headers: { a: 1 } }),
  "line feed": fulfill({ headers: { a: "x\ny" } }),
  "carriage return": fulfill({ headers: { a: "x\ry" } }),
  NUL: fulfill({ headers: { a: "x\0y" } }),
  "empty name": fulfill({ headers: { "": "y" } }),
  "body a number": fulfill({ bodyBase64: 5 }),
  "stream of no response": [{ type: "decision:fulfill", stream: true }],
  "stream with status 1000": [{ type: "decision:fulfill", stream: true, response: { ...OK, status: 1000 } }],
  "stream aborted with a code from elsewhere": stream(
    ["data", { body: b64("x") }],
    ["abort", { errorCode: "constructor" }],
  ),
  "stream aborted without a code": stream(["abort"]),
  "abort code from elsewhere": [{ type: "decision:abort", errorCode: "constructor" }],
  "no abort code": [{ type: "decision:abort" }],
  "no error code": [{ type: "decision:error" }],
  "error code a number": [{ type: "decision:error", code: 5, message: 5, matches: "x" }],
  "continue at no URL": resume({ url: "http://[" }),
  "continue at ftp": resume({ url: "ftp://x/" }),
  "continue at a file": resume({ url: "file:///etc/hostname" }),
  "continue with no method": resume({ method: "A B" }),
  "continue with a line feed": resume({ headers: { a: "x\ny" } }),
  "continue by CONNECT": resume({ method: "CONNECT" }),
  "continue with a number": resume({ method: "POST", bodyBase64: 5 }),
};

/** What looks wrong and can be served: status and body as any client sees them. */
const SERVED = {
  "length too small": [fulfill({ headers: { "content-length": "3" }, bodyBase64: b64("hello") }), 200, "hello"],
  "length too large": [fulfill({ headers: { "content-length": "300" }, bodyBase64: b64("hello") }), 200, "hello"],
  "two lengths": [
    fulfill({
      headersList: [
        ["content-length", "3"],
        ["Content-Length", "9"],
      ],
      bodyBase64: b64("hello"),
    }),
    200,
    "hello",
  ],
  "204 with a body": [fulfill({ status: 204, headers: { "content-length": "5" }, bodyBase64: b64("hello") }), 204, ""],
  "204 with an invalid length": [fulfill({ status: 204, headers: { "content-length": "abc" } }), 204, ""],
  "205 with a body": [fulfill({ status: 205, headers: { "content-length": "5" }, bodyBase64: b64("hello") }), 205, ""],
  "304 with an invalid length": [fulfill({ status: 304, headers: { "content-length": "abc" } }), 304, ""],
  chunked: [fulfill({ headers: { "transfer-encoding": "chunked" }, bodyBase64: b64("hello") }), 200, "hello"],
  upgrade: [
    fulfill({ headers: { upgrade: "websocket", connection: "upgrade" }, bodyBase64: b64("hello") }),
    200,
    "hello",
  ],
  "unknown coding": [fulfill({ headers: { "content-encoding": "x-none" }, bodyBase64: b64("hello") }), 200, "hello"],
  "invalid location": [fulfill({ status: 302, headers: { location: "http://[" } }), 302, ""],
  "__proto__ header": [fulfill({ headers: JSON.parse('{"__proto__": "x"}') }), 200, ""],
  "stream with pieces of nothing": [
    stream(
      ["data", { body: b64("he") }],
      ["data", { body: "" }],
      ["data", { body: null }],
      ["data"],
      ["data", { body: 5 }],
      ["data", { body: b64("llo") }],
      ["end"],
    ),
    200,
    "hello",
  ],
  "stream that goes on after its end": [
    stream(["data", { body: b64("hello") }], ["end"], ["data", { body: b64("x") }], ["abort"], ["end"], ["ack"]),
    200,
    "hello",
  ],
  "stream before its head": [
    [{ type: "stream:data", body: b64("x") }, { type: "stream:end" }, ...fulfill({})],
    200,
    "",
  ],
  "two decisions": [
    [...fulfill({}), ...fulfill({ status: 500 }), { type: "decision:abort", errorCode: "failed" }],
    200,
    "",
  ],
  "types of every object": [[{ type: "constructor" }, { type: "__proto__" }, {}, ...fulfill({})], 200, ""],
  "no messages at all": [["{", "null", "5", "[]", ...fulfill({})], 200, ""],
  "fetch of no URL": [fetched({ overrides: { url: "http://[" } }), 200, ""],
  "fetch with bad limits": [
    fetched({ maxRetries: "x", maxRedirects: -1, overrides: { url: DEAD, method: "A B" } }),
    200,
    "",
  ],
  "fetch without overrides": [fetched({ overrides: null }), 200, ""],
};

/** Each ends with a close, of whatever code. */
const SOCKETS = {
  "nothing to send": [{ type: "ws:sendToPage" }, { type: "ws:closePage" }],
  "null to send": [{ type: "ws:sendToPage", data: null, isBase64: true }],
  "code 5000": [{ type: "ws:ensureOpened" }, { type: "ws:closePage", code: 5000, reason: "x" }],
  "reason too long": [{ type: "ws:ensureOpened" }, { type: "ws:closePage", code: 4000, reason: "x".repeat(200) }],
  "code as text": [{ type: "ws:ensureOpened" }, { type: "ws:closePage", code: "x", reason: 7 }],
  "error without words": [{ type: "ws:error" }],
  "connected twice": [{ type: "ws:connect" }, { type: "ws:connect" }],
  "an object to the server": [{ type: "ws:connect" }, { type: "ws:sendToServer", data: { a: 1 } }],
  "passthrough to nobody": [{ type: "constructor" }, { type: "ws:passthrough" }],
};

const ofFetch = async (response) => [response.status, await response.text()];

/** Status and body, or a rejection. */
const CLIENTS = {
  fetch: async (url) => ofFetch(await fetch(url, { redirect: "manual" })),
  "fetch POST": async (url) => ofFetch(await fetch(url, { redirect: "manual", method: "POST", body: "x" })),
  "node:http": (url) => viaHttp(url, {}),
  "node:http keep-alive": (url) => viaHttp(url, { method: "PUT", agent: new http.Agent({ keepAlive: true }) }),
};

const viaHttp = (url, options) =>
  new Promise((resolve, reject) => {
    http
      .request(url, options, (response) => {
        response.toArray().then((chunks) => resolve([response.statusCode, Buffer.concat(chunks).toString()]), reject);
      })
      .on("error", reject)
      .end();
  });

describe("a proxy that says what none should", () => {
  let proxy, agent;
  before(async () => {
    const nameOf = (url) => decodeURIComponent(new URL(url).pathname.slice(1));
    proxy = await startFakeProxy(HELLO_OK, ({ type, requestId, socketId, request, url }) => {
      if (type === "ws:connection") return SOCKETS[nameOf(url)].map((message) => ({ socketId, ...message }));
      if (type !== "request:start") return [];
      const name = nameOf(request.url);
      const answers = FAILING[name] ?? SERVED[name][0];
      return answers.map((message) => (typeof message === "string" ? message : { requestId, ...message }));
    });
    agent = await startTrafficMock({ proxyUrl: proxy.url, webSocket: "all" });
  });
  after(async () => {
    await agent.stop();
    await proxy.stop();
  });

  for (const [client, send] of Object.entries(CLIENTS)) {
    test(`${client}: what cannot be carried out fails its request only`, { timeout: 20000 }, async () => {
      for (const name of Object.keys(FAILING)) {
        await assert.rejects(
          within(send(`http://nowhere.test/${name}`), name),
          (error) => error.message !== `${name}: nothing came`,
        );
      }
    });

    test(`${client}: what can be served is`, { timeout: 20000 }, async () => {
      for (const [name, [, status, body]] of Object.entries(SERVED)) {
        assert.deepEqual(await within(send(`http://nowhere.test/${name}`), name), [status, body], name);
      }
    });
  }

  for (const [name, Class] of Object.entries({
    ws: Ws,
    ...(globalThis.WebSocket && { "globalThis.WebSocket": globalThis.WebSocket }),
  })) {
    test(`${name}: every socket ends with a close`, { timeout: 20000 }, async () => {
      for (const what of Object.keys(SOCKETS)) {
        const closed = new Promise((resolve) => {
          const socket = new (name === "ws" ? Class : globalThis.WebSocket)(`ws://127.0.0.1:2/${what}`);
          socket.onerror = () => {};
          socket.onclose = () => resolve(socket.readyState);
        });
        assert.equal(await within(closed, what), 3);
      }
    });
  }
});

describe("an invalid handshake", () => {
  const HELLOS = {
    "another protocol": [{ ...HELLO_OK, protocolVersion: 2 }, "PROTOCOL_MISMATCH", /protocol 2, this agent 3/],
    "no protocol": [{ type: "hello:ok" }, "PROTOCOL_MISMATCH", /./],
    "refused for its protocol": [
      { type: "hello:error", code: "protocol_mismatch", message: "speaks 4" },
      "PROTOCOL_MISMATCH",
      /speaks 4/,
    ],
    "refused without words": [{ type: "hello:error" }, "INVALID_HELLO", /hello:ok/],
    "no JSON": ["{", "INVALID_HELLO", /hello:ok/],
    null: ["null", "INVALID_HELLO", /hello:ok/],
    "only a heartbeat": [{ type: "ping", at: 1 }, "TIMEOUT", /1900 ms/],
  };
  for (const [name, [hello, code, message]] of Object.entries(HELLOS)) {
    test(`${name}: one clear error, within 2 s`, { timeout: 4000 }, async () => {
      const proxy = await startFakeProxy(hello);
      await assert.rejects(startTrafficMock({ proxyUrl: proxy.url }), { code: `ERR_TRAFFICMOCK_${code}`, message });
      await proxy.stop();
    });
  }
});

/** A hang is told by its name, and not only by the test's time limit. */
function within(promise, name) {
  let timer;
  const late = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${name}: nothing came`)), 3000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
