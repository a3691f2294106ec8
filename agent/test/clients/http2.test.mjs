import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { after, before, describe, test } from "node:test";
import { selfSigned } from "../lib/certificate.mjs";
import { runNode } from "../lib/child.mjs";
import { startProxy, until } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";
import { startTrafficMock } from "../../index.mjs";

const SETTINGS = { settings: { enablePush: false } };

/** Asks by sessions of its own, and prints what each ends with. */
const APP = `
  const http2 = require("node:http2"), net = require("node:net"), tls = require("node:tls"), { once } = require("node:events");
  const { PORT, TLS_PORT } = process.env;
  const lookup = (host, { all }, done) => (all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4));
  const secure = { rejectUnauthorized: false };
  const settings = { enablePush: false };
  const connected = async (socket, event) => { await once(socket, event); return { settings, createConnection: () => socket } };
  const WAYS = {
    plain: (host) => http2.connect("http://" + host + ":" + PORT, { lookup }),
    tls: (host) => http2.connect("https://" + host + ":" + TLS_PORT, { lookup, ...secure }),
    "a URL object": (host) => http2.connect(new URL("https://" + host + ":" + TLS_PORT), { lookup, ...secure }),
    "a port as an option": (host) => http2.connect("http://" + host, { lookup, port: Number(PORT) }),
    "a socket that connects": (host) => http2.connect("http://" + host + ":" + PORT, { createConnection: () => net.connect(PORT, "127.0.0.1") }),
    "a connected socket": async (host) => http2.connect("http://" + host + ":" + PORT, await connected(net.connect(PORT, "127.0.0.1"), "connect")),
    "a connected TLS socket": async (host) =>
      http2.connect("https://" + host + ":" + TLS_PORT, await connected(tls.connect({ port: TLS_PORT, host: "127.0.0.1", ALPNProtocols: ["h2"], ...secure }), "secureConnect")),
  };
  const ask = async (way, host) => {
    const session = await WAYS[way](host);
    const failed = once(session, "error").then(([error]) => error.code);
    const stream = session.request({ ":path": "/" + encodeURIComponent(way) });
    const answered = new Promise((resolve) => stream.on("data", (data) => resolve(String(data))).on("error", () => {}));
    const end = await Promise.race([failed, answered]);
    session.destroy();
    return end;
  };
  (async () => {
    const ends = {};
    for (const way of Object.keys(WAYS)) ends[way] = await ask(way, process.env.HOST);
    console.log(JSON.stringify(ends));
    process.exit();
  })();`;

/** The paths of the requests that reached a server. @type {string[]} */
let seen;

describe("sessions of node:http2", () => {
  let servers, ports;
  before(async () => {
    const { key, cert } = selfSigned();
    servers = [http2.createServer(SETTINGS), http2.createSecureServer({ key, cert, ...SETTINGS })];
    for (const server of servers) {
      server.on("request", (request, response) => {
        seen.push(request.url);
        response.end("two");
      });
      server.on("sessionError", () => {});
      await once(server.listen(0, "127.0.0.1"), "listening");
    }
    ports = servers.map((server) => server.address().port);
  });
  after(() => {
    for (const server of servers) server.close();
  });

  /** @returns {Promise<{ ends: Record<string, string>, stderr: string }>} what the application says */
  async function run(url, host, more = {}) {
    seen = [];
    const env = { TRAFFICMOCK_PROXY_URL: url, HOST: host, PORT: String(ports[0]), TLS_PORT: String(ports[1]), ...more };
    const { stdout, stderr } = await runNode(APP, { env });
    return { ends: JSON.parse(stdout || JSON.stringify(stderr)), stderr };
  }

  const WAYS = [
    "plain",
    "tls",
    "a URL object",
    "a port as an option",
    "a socket that connects",
    "a connected socket",
    "a connected TLS socket",
  ];
  const all = (end) => Object.fromEntries(WAYS.map((way) => [way, end]));

  test("are refused by strict mode before a request is sent, and are in the history", async () => {
    const proxy = await startProxy("--strict", "--allow", "allowed.test");
    const { ends, stderr } = await run(proxy.url, "evil.test");
    assert.deepEqual(ends, all("ERR_TRAFFICMOCK_UNMATCHED_REQUEST"));
    assert.equal(stderr, "");
    assert.deepEqual(seen, []);
    await until(proxy, "/api/history", ({ entries }) => entries.length === WAYS.length);
    const { entries } = await proxy.get("/api/history");
    const plain = `http://evil.test:${ports[0]}/`;
    assert.ok(entries.some(({ request, outcome }) => request.url === plain && outcome.code === "unmatched_request"));
    const allowed = await run(proxy.url, "allowed.test");
    assert.deepEqual(allowed, { ends: all("two"), stderr: "" });
    await proxy.stop();
  });

  test("pass without strict mode, and each origin is named once", async () => {
    const proxy = await startProxy();
    const { ends, stderr } = await run(proxy.url, "api.test");
    const passed = await until(proxy, "/api/history", ({ entries }) => {
      const ended = entries.filter(({ action, outcome }) => action === "passthrough" && outcome.response);
      return ended.length === WAYS.length && ended;
    });
    await proxy.stop();
    assert.ok(passed.every(({ request }) => request.method === "CONNECT"));
    assert.deepEqual(ends, all("two"));
    const named = [...stderr.matchAll(/what goes to (\S+) by node:http2/g)].map(([, origin]) => origin);
    assert.deepEqual(named.sort(), [`http://api.test:${ports[0]}`, `https://api.test:${ports[1]}`]);
  });

  test("are refused by strict mode, not by the network, where their host has no address", async () => {
    const proxy = await startProxy("--strict");
    const code = `require("node:http2").connect("https://bedrock.invalid").on("error", ({ code, message }) => {
      console.log(code, message);
      process.exit();
    })`;
    const { stdout } = await runNode(code, { env: { TRAFFICMOCK_PROXY_URL: proxy.url } });
    assert.match(stdout, /^ERR_TRAFFICMOCK_UNMATCHED_REQUEST .*strict mode/);
    await proxy.stop();
  });

  test("that a sealed command cannot open say so, and are in the history", async () => {
    const proxy = await startProxy();
    const code = `require("node:http2").connect("http://127.0.0.1:1").on("error", ({ code, message }) => {
      console.log(code, message);
      setTimeout(() => process.exit(), 50);
    })`;
    const { stdout } = await runNode(code, { env: { TRAFFICMOCK_PROXY_URL: proxy.url, TRAFFICMOCK_SEALED: "1" } });
    assert.match(stdout, /^ERR_TRAFFICMOCK_SEALED http:\/\/127\.0\.0\.1:1 .*ECONNREFUSED.*sealed .*--reach/);
    await until(proxy, "/api/history", ({ entries }) => /The command is sealed/.test(entries[0]?.events.at(-1).detail));
    await proxy.stop();
  });

  test("warn the test whose context used them, of each session", async () => {
    const proxy = await startProxy();
    const agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    const session = http2.connect(`http://127.0.0.1:${ports[0]}`);
    assert.equal(await answerTo(session), "two");
    const worker = await startWorker(proxy.url, {
      features: ["strict", "context", "warnings"],
      context: "a".repeat(32),
    });
    const warned = worker.waitFor("test:warning");
    const app = http.createServer(async (_, response) => response.end(await answerTo(session)));
    await once(app.listen(0, "127.0.0.1"), "listening");
    const headers = { baggage: `trafficmock.test=${"a".repeat(32)}` };
    const answer = await fetch(`http://127.0.0.1:${app.address().port}`, { headers });
    assert.equal(await answer.text(), "two");
    const { testId, code, message } = await warned;
    assert.deepEqual([testId, code], [worker.testId, "unseen_connection"]);
    assert.match(message, /"app" has connected to http:\/\/127/);
    app.close();
    session.destroy();
    worker.close();
    await agent.stop();
    await proxy.stop();
  });

  test("that are open when strict mode begins are asked about, and end if they are refused", async () => {
    const proxy = await startProxy();
    const agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    const lookup = (_host, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }]);
    const sessions = ["evil.test", "allowed.test"].map((host) =>
      http2.connect(`http://${host}:${ports[0]}`, { lookup }),
    );
    for (const session of sessions) assert.equal(await answerTo(session), "two");
    const refused = once(sessions[0], "error");
    const worker = await startWorker(proxy.url, { features: ["strict"] });
    worker.send({ type: "test:strict", testId: worker.testId, allow: ["allowed.test"] });
    const [error] = await refused;
    assert.equal(error.code, "ERR_TRAFFICMOCK_UNMATCHED_REQUEST");
    assert.match(error.message, /evil\.test/);
    assert.equal(await answerTo(sessions[1]), "two");
    sessions[1].destroy();
    worker.close();
    await agent.stop();
    await proxy.stop();
  });
});

/** @returns {Promise<string>} what a session is answered */
async function answerTo(session) {
  seen = [];
  const [data] = await once(session.request({ ":path": "/" }), "data");
  return String(data);
}
