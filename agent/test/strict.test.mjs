import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { after, before, describe, test } from "node:test";
import { urlToHttpOptions } from "node:url";
import axios from "axios";
import got from "got";
import { HttpProxyAgent } from "http-proxy-agent";
import needle from "needle";
import nodeFetch from "node-fetch";
import * as undici6 from "undici6";
import * as undici7 from "undici7";
import { WebSocket } from "ws";
import { startTrafficMock } from "../index.mjs";
import { refusalOf } from "../src/exchange/refusal.js";
import { readSettings } from "../src/settings.js";
import { runNode } from "./lib/child.mjs";
import { startProxy, until } from "./lib/proxy.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { startWorker } from "./lib/worker.mjs";

const CODE = "ERR_TRAFFICMOCK_UNMATCHED_REQUEST";

/** @returns {Promise<never>} what a request by callbacks ends with */
const asked = (client, url) =>
  new Promise((resolve, reject) => client.get(url).on("response", resolve).on("error", reject));

/** Each client asks for a URL; those that repeat what failed are told to do so at once. */
const CLIENTS = {
  fetch: (url) => fetch(url),
  "node:http": (url) => asked(http, url),
  "node:https": (url) => asked(https, url.replace("http:", "https:")),
  axios: (url) => axios.get(url),
  "node-fetch": (url) => nodeFetch(url),
  "got, which repeats": (url) => got(url, { retry: { limit: 2, calculateDelay: (at) => (at.computedValue ? 1 : 0) } }),
  "undici's RetryAgent": (url) =>
    undici7.request(url, { dispatcher: new undici7.RetryAgent(new undici7.Agent(), { maxRetries: 2, minTimeout: 1 }) }),
  WebSocket: (url) => new Promise((_, reject) => new WebSocket(url.replace("http", "ws")).on("error", reject)),
};

/** The code that axios gets instead, because axios-retry repeats after all others. */
const AXIOS_CODE = "ECONNABORTED";

/** @returns {string | undefined} the code of our error, or of the one that an error wraps */
const codeOf = (error) =>
  error && (error.name === "TrafficMockError" ? error.code : (codeOf(error.cause) ?? error.code));

/** @returns {Promise<string>} what the other side says, which repeats what it hears and then ends */
async function echoed(socket) {
  socket.end("echo");
  return (await socket.toArray()).map(String).join("");
}

describe("strict mode of the service", () => {
  let proxy, upstream, agent, server;

  /** @returns {Promise<string>} the URL of a server that speaks another protocol after an upgrade */
  async function upgrading() {
    if (!server) {
      server = http.createServer().on("upgrade", (_request, socket) => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: protocol\r\n\r\n");
        socket.pipe(socket);
      });
      await once(server.listen(0, "127.0.0.1"), "listening");
    }
    return `http://127.0.0.1:${server.address().port}`;
  }

  before(async () => {
    proxy = await startProxy("--strict", "--allow", "allowed.test", "--allow", "http://by-path.test/allowed/**");
    upstream = await startUpstream();
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
  });
  after(async () => {
    await agent.stop();
    server?.close();
    await upstream.stop();
    await proxy.stop();
  });

  test("a tunnel by CONNECT is refused by its target, before anything reaches the application's own proxy", async (t) => {
    const asked = [];
    const own = http.createServer().on("connect", ({ url }, socket) => {
      asked.push(url);
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    });
    await once(own.listen(0, "127.0.0.1"), "listening");
    t.after(() => own.close());
    const to = { host: "127.0.0.1", port: own.address().port, method: "CONNECT" };
    const ways = {
      "Node's agent": {},
      "no agent": { agent: false },
      "a socket of its own": { createConnection: () => net.connect(to.port, to.host) },
    };
    for (const [way, options] of Object.entries(ways)) {
      const refused = once(http.request({ ...to, ...options, path: "real.test:443" }).end(), "connect");
      await assert.rejects(
        refused,
        (error) => codeOf(error) === CODE && /CONNECT https:\/\/real\.test\/ is a tunnel/.test(error),
        way,
      );
      const [response, socket] = await once(
        http.request({ ...to, ...options, path: "allowed.test:443" }).end(),
        "connect",
      );
      assert.equal(response.statusCode, 200, way);
      socket.destroy();
    }
    const gone = http.request({ ...to, path: "real.test:443" }).end();
    gone.destroy();
    await assert.rejects(once(gone, "connect"), { code: "ECONNRESET" });
    assert.deepEqual(asked, ["allowed.test:443", "allowed.test:443", "allowed.test:443"]);
    // The tunnel that an agent opens for a request is that of the request.
    class TunnelAgent extends http.Agent {
      createConnection(_options, done) {
        const request = http.request({ ...to, path: "elsewhere.test:80", agent: false });
        request
          .once("connect", (_response, socket) => done(null, socket))
          .once("error", done)
          .end();
      }
    }
    const [{ statusCode }] = await once(http.get({ host: "allowed.test", agent: new TunnelAgent() }), "response");
    assert.deepEqual([statusCode, asked.at(-1)], [200, "elsewhere.test:80"]);
  });

  test("the tunnel of a request is not judged when its agent opens it later; those beside it are", async (t) => {
    const own = http.createServer().on("connect", (_request, socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
      socket.on("error", () => {}).once("data", () => socket.end(answer));
    });
    await once(own.listen(0, "127.0.0.1"), "listening");
    t.after(() => own.close());
    const tunnel = (path, done) =>
      http
        .request({ host: "127.0.0.1", port: own.address().port, method: "CONNECT", path, agent: false })
        .once("connect", (_response, socket) => done(null, socket))
        .once("error", done)
        .end();
    class LaterAgent extends http.Agent {
      createConnection({ host, port }, done) {
        setTimeout(tunnel, 5, `${host}:${port}`, done);
      }
    }
    const later = new LaterAgent({ maxSockets: 1 });
    const get = () =>
      once(
        http
          .get({ host: "by-path.test", path: "/allowed/1", agent: later })
          .on("response", (response) => response.resume()),
        "response",
      );
    await get();
    await Promise.all([get(), get()]);
    const [refused] = await new Promise((resolve) => tunnel("by-path.test:80", (...ended) => resolve(ended)));
    assert.equal(codeOf(refused), CODE);
  });

  /** @returns {Promise<{ url: string }[]>} what the proxy saw of a path, requests and WebSockets */
  async function seen(path) {
    const [{ entries }, { connections }] = await Promise.all([proxy.get("/api/history"), proxy.get("/api/ws")]);
    const urls = [...entries.map((each) => each.request.url), ...connections.map((each) => each.url)];
    return urls.filter((url) => new URL(url).pathname === path);
  }

  for (const [name, ask] of Object.entries(CLIENTS)) {
    test(`${name} fails at once, and does not ask again`, async () => {
      const path = `/${encodeURIComponent(name)}`;
      const error = await ask(`http://api.shop.test${path}`).then(
        () => assert.fail("it was answered"),
        (error) => error,
      );
      assert.equal(codeOf(error), name === "axios" ? AXIOS_CODE : CODE, String(error));
      assert.equal((await seen(path)).length, 1);
    });
  }

  test("a request to another server that names a URL of this machine is one to that server", async () => {
    const client = new undici7.Client("http://evil.test");
    for (const base of ["http://localhost", proxy.url]) {
      const refused = client.request({ method: "GET", path: `${base}/named` }).catch((error) => error);
      assert.equal(codeOf(await refused), CODE);
      assert.equal(
        codeOf(await asked(http, { host: "evil.test", path: `${base}/named` }).catch((error) => error)),
        CODE,
      );
    }
    assert.deepEqual(new Set(await seen("/named")), new Set(["http://evil.test/named"]));
    await client.close();
  });

  const lookup = (host) => assert.fail(`it asked for the address of ${host}`);
  const upgrade = { connection: "Upgrade", upgrade: "protocol" };
  const REFUSED = {
    "a path that begins with two slashes": ["//allowed.test/a", { host: "evil.test", path: "//allowed.test/a" }],
    "a path like the name of a container": ["//v1/charges", { host: "evil.test", path: "//v1/charges" }],
    "a path without a slash": ["/@allowed.test/b", { host: "evil.test", path: "@allowed.test/b" }],
    "a path with a colon": ["/a:b", { host: "evil.test", path: "a:b" }],
    "an empty host name": ["/c", { hostname: "", host: "evil.test", path: "/c" }],
    "another host in its header": ["/d", { host: "evil.test", path: "/d", headers: { host: "allowed.test" } }],
    "a path that names a URL of this machine": ["/n", { host: "evil.test", path: "http://localhost/n" }],
    "a dot at the end of the host": ["/e", { host: "evil.test.", path: "/e" }],
    "an IPv6 address with a zone": ["/f", { host: "fe80::1%lo", path: "/f" }],
    "a URL as its path": ["/h", { host: "allowed.test", path: "http://evil.test/h" }],
    "a URL in capitals as its path": ["/i", { host: "allowed.test", path: "HTTP://EVIL.test/i" }],
    "a URL of another scheme as its path": ["/j", { host: "allowed.test", path: "ftp://evil.test/j" }],
    "an upgrade to another protocol": ["/g", { host: "evil.test", path: "/g", headers: upgrade }],
  };
  for (const [name, [path, options]] of Object.entries(REFUSED)) {
    test(`a request with ${name} is refused`, async () => {
      await assert.rejects(asked(http, { ...options, lookup }), { code: CODE });
      assert.equal((await seen(path)).length, 1);
    });
  }

  test("a host that no URL can have is not looked up", async () => {
    await assert.rejects(asked(http, { host: "a<b.test", lookup }), { code: "ENOTFOUND", hostname: "a<b.test" });
  });

  for (const [name, undici] of Object.entries({ undici6, undici7 })) {
    test(`an upgrade to another protocol is refused, with ${name}`, async () => {
      const dispatcher = new undici.Agent({ connect: { lookup } });
      const asking = dispatcher.upgrade({ origin: "http://evil.test", path: `/${name}`, protocol: "protocol" });
      await assert.rejects(asking, { code: CODE });
      assert.equal((await seen(`/${name}`)).length, 1);
    });

    test(`an upgrade to another protocol passes where it is allowed, with ${name}`, async () => {
      const url = await upgrading();
      const path = `/${name}-allowed`;
      const { socket } = await new undici.Client(url).upgrade({ path, protocol: "protocol" });
      assert.equal(await echoed(socket), "echo");
      await until(proxy, "/api/history", ({ entries }) =>
        entries.some(({ request, outcome }) => request.url === url + path && outcome.response?.status === 101),
      );
    });
  }

  test("an upgrade to another protocol passes where it is allowed, with node:http", async () => {
    const url = await upgrading();
    const req = http.get(`${url}/http-allowed`, { headers: upgrade });
    const [, socket] = await once(req, "upgrade");
    assert.equal(await echoed(socket), "echo");
    await until(proxy, "/api/history", ({ entries }) =>
      entries.some(({ request, outcome }) => request.url === `${url}/http-allowed` && outcome.response?.status === 101),
    );
  });

  test("the error says what to do", async () => {
    await assert.rejects(asked(http, "http://api.shop.test/text"), {
      message:
        "GET http://api.shop.test/text is not mocked, and strict mode allows only allowed.test, http://by-path.test/allowed/**. " +
        "It carries the context of no test. Add a route, or allow api.shop.test.",
    });
  });

  for (const name of ["fetch", "axios", "node-fetch", "got, which repeats"]) {
    test(`a redirect to what is not allowed is not followed by ${name}`, async () => {
      const elsewhere = `http://elsewhere.test/${encodeURIComponent(name)}`;
      const url = `${upstream.url}/redirect?to=${encodeURIComponent(elsewhere)}`;
      const error = await CLIENTS[name](url).then(
        () => assert.fail("it was followed"),
        (error) => error,
      );
      assert.equal(codeOf(error), name === "axios" ? AXIOS_CODE : CODE, String(error));
      const { entries } = await proxy.get("/api/history");
      const [refused, first] = entries;
      assert.deepEqual([refused.request.url, refused.outcome.code], [elsewhere, "unmatched_request"]);
      assert.equal(refused.redirectedFromId, first.id);
    });

    test(`a redirect to what is allowed is followed by ${name}`, async () => {
      const response = await CLIENTS[name](`${upstream.url}/redirect?to=${encodeURIComponent("/ok")}`);
      assert.equal(response.status ?? response.statusCode, 200);
    });
  }

  test("hosts under test are allowed", async () => {
    assert.equal((await fetch(`${upstream.url}/`)).ok, true);
  });
});

describe("strict mode with a plain proxy, whose own host is ignored", () => {
  let proxy, plain, agent, port;
  const arrived = [];
  before(async () => {
    proxy = await startProxy("--strict", "--allow", "allowed.test");
    plain = http.createServer(({ url }, response) => {
      arrived.push(url);
      response.end("by the proxy");
    });
    await once(plain.listen(0, "127.0.0.1"), "listening");
    ({ port } = plain.address());
    agent = await startTrafficMock({
      proxyUrl: proxy.url,
      clientId: "app",
      ignoreHosts: [`127.0.0.1:${port}`],
      webSocket: "global",
    });
  });
  after(async () => {
    await agent.stop();
    plain.close();
    await proxy.stop();
  });

  const WAYS = {
    "node:http, a URL as the path": (url) => asked(http, { host: "127.0.0.1", port, path: url }),
    "http-proxy-agent": (url) => asked(http, Object.assign(urlToHttpOptions(new URL(url)), { agent: agentOf() })),
    "axios, its option proxy": (url) => axios.get(url, { proxy: { protocol: "http", host: "127.0.0.1", port } }),
    "needle, its option proxy": (url) => needle("get", url, { proxy: `http://127.0.0.1:${port}` }),
    "undici 6, a URL as the path": (url) => clientOf(undici6).request({ path: url, method: "GET" }),
    "undici 7, a URL as the path": (url) => clientOf(undici7).request({ path: url, method: "GET" }),
  };
  const clientOf = ({ Client }) => new Client(`http://127.0.0.1:${port}`);
  const agentOf = () => new HttpProxyAgent(`http://127.0.0.1:${port}`);

  for (const [name, ask] of Object.entries(WAYS)) {
    test(`${name}: the host that is named is judged`, async () => {
      arrived.length = 0;
      const error = await ask("http://evil.test/a").then(
        () => assert.fail("it was answered"),
        (reason) => reason,
      );
      assert.equal(codeOf(error), name.startsWith("axios") ? AXIOS_CODE : CODE, String(error));
      assert.deepEqual(arrived, []);
      await ask("http://allowed.test/b");
      assert.deepEqual(arrived, ["http://allowed.test/b"]);
    });
  }

  test("with webSocket: global, WebSockets of globalThis are judged, and those of npm ws are left alone", async () => {
    const before = globalThis.WebSocket;
    const told = (Class) =>
      new Promise((resolve) => {
        const socket = new Class(`ws://evil.test:${port}/socket`, ...(Class === WebSocket ? [{ lookup }] : []));
        socket.onerror = ({ message, error }) => resolve(String(error?.message ?? message));
      });
    const lookup = (_host, { all }, done) =>
      all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4);
    try {
      globalThis.WebSocket = class extends WebSocket {};
      assert.match(await told(globalThis.WebSocket), /evil\.test/);
      assert.match(await told(WebSocket), /Unexpected server response: 200/);
    } finally {
      globalThis.WebSocket = before;
    }
  });
});

describe("strict mode that begins while a request is under way", () => {
  let proxy, server, url, waiting;
  before(async () => {
    proxy = await startProxy();
    server = http.createServer((request, response) => waiting(request, response));
    await once(server.listen(0, "127.0.0.1"), "listening");
    url = `http://127.0.0.1:${server.address().port}/`;
  });
  after(async () => {
    server.close();
    await proxy.stop();
  });

  /** @returns {Promise<any>} what a request ends with that is redirected once `act` is over */
  async function redirected(ask, location, act) {
    const arrived = new Promise((resolve) => {
      waiting = (_request, response) => resolve(response);
    });
    const asking = ask(url).then(
      (response) => response.status ?? response.statusCode,
      (error) => error,
    );
    const response = await arrived;
    waiting = (_request, other) => other.end("followed");
    await act();
    response.writeHead(302, { location }).end();
    return asking;
  }

  for (const [way, isLocal, batch] of [
    ["with a question", "0", []],
    ["without a question", "1", []],
    ["without a question or a report", "1", ["--history-capture", "none"]],
  ]) {
    for (const name of ["fetch", "node-fetch", "got, which repeats"]) {
      test(`holds for the redirects of a request by ${name} that passed ${way}`, async () => {
        const service = batch.length ? await startProxy(...batch) : proxy;
        process.env.TRAFFICMOCK_LOCAL = isLocal;
        const agent = await startTrafficMock({ proxyUrl: service.url, clientId: "app" });
        delete process.env.TRAFFICMOCK_LOCAL;
        // The lease, for the request that is to pass without a question.
        waiting = (_request, response) => response.end();
        await fetch(url);
        const worker = await startWorker(service.url, { features: ["strict"] });
        const begin = async () => {
          worker.send({ type: "test:strict", testId: worker.testId, allow: [] });
          await worker.waitFor("test:stricted");
        };
        const path = `${isLocal}${batch.length}${encodeURIComponent(name)}`;
        const error = await redirected(CLIENTS[name], `http://elsewhere.test/${path}`, begin);
        assert.equal(codeOf(error), CODE, String(error));
        assert.equal(await redirected(CLIENTS[name], "/next", async () => {}), 200);
        worker.close();
        await agent.stop();
        if (service !== proxy) await service.stop();
      });
    }
  }
});

describe("a refusal as an answer", () => {
  const CALLS = `
    const http = require("node:http");
    const { request } = require("./node_modules/undici7");
    const url = "http://api.shop.test/";
    const get = () => new Promise((resolve, reject) => {
      http.get(url, async (response) => resolve([response.statusCode, JSON.parse(await response.toArray())])).on("error", reject);
    });
    const fetched = async () => { const answer = await fetch(url); return [answer.status, await answer.json()]; };
    const dispatched = async () => { const { statusCode, body } = await request(url); return [statusCode, await body.json()]; };
    const posted = async () => { const answer = await fetch(url, { method: "POST", body: "x" }); return [answer.status, await answer.json()]; };
    Promise.all([get(), fetched(), dispatched(), posted()]).then((said) => console.log(JSON.stringify(said)), (error) => console.log(error));`;

  test("is a 403 with the text, for each client", async () => {
    const proxy = await startProxy("--strict");
    const env = { TRAFFICMOCK_PROXY_URL: proxy.url, TRAFFICMOCK_STRICT_ANSWER: "response" };
    const { stdout, stderr } = await runNode(CALLS, { env, ms: 60000 });
    await proxy.stop();
    const said = JSON.parse(stdout || stderr);
    for (const [status, { error }] of said) {
      assert.deepEqual([status, error.code], [403, "unmatched_request"]);
      assert.match(error.message, /^(GET|POST) http:\/\/api\.shop\.test\/ is not mocked/);
    }
    assert.equal(said.length, 4);
  });

  test("is for libraries that repeat after errors, unless another word was chosen", () => {
    const ofStripe = [["X-Stripe-Client-User-Agent", "{}"]];
    const formOf = (word, pairs) => Object.keys(refusalOf(word, "not mocked", pairs)).join();
    const forms = ["auto", "error", "response"].map((word) => [formOf(word, ofStripe), formOf(word, [])]);
    assert.deepEqual(forms, [
      ["response", "error"],
      ["error", "error"],
      ["response", "response"],
    ]);
  });

  const said = { code: "unmatched_request", message: "not mocked" };
  const REPEATING = {
    OpenAI: ["x-stainless-retry-count", "0", { error: said }],
    Google: ["x-goog-api-client", "gdcl/8", { error: said }],
    Algolia: ["x-algolia-application-id", "APP", said],
    Supabase: ["x-client-info", "supabase-js-node/2.109.0", said],
    Octokit: ["user-agent", "shop/1 octokit-core.js/7.0.6", said],
    Slack: ["user-agent", "@slack:web-api/8.2.0 node/22", { ok: false, error: "unmatched_request: not mocked" }],
  };
  for (const [name, [header, value, wanted]] of Object.entries(REPEATING)) {
    test(`has the form of the API for ${name}`, () => {
      const { response } = refusalOf("auto", "not mocked", [[header, value]]);
      assert.equal(response.status, wanted.ok === false ? 200 : 403);
      assert.deepEqual(JSON.parse(Buffer.from(response.bodyBase64, "base64")), wanted);
    });
  }

  test("is an error for another client with such a header", () => {
    for (const header of ["x-client-info", "user-agent"]) {
      assert.equal(refusalOf("auto", "not mocked", [[header, "shop/1"]]).error.code, CODE);
    }
  });

  const CALLERS = {
    "a file of ky": ["Error\n    at timeout (file:///shop/node_modules/ky/distribution/utils/timeout.js:8:1)", 403],
    "a file of ky, as pnpm installs it": ["\n    at /shop/node_modules/.pnpm/ky@1.14.3/node_modules/ky/x.js:8:1", 403],
    "a file of ofetch on Windows": ["\n    at a (C:\\shop\\node_modules\\ofetch\\dist\\node.mjs:1:1)", 403],
    "a package in ky": ["\n    at a (/shop/node_modules/ky/node_modules/other/x.js:1:1)", CODE],
    "a package with a longer name": ["\n    at a (/shop/node_modules/kysely/x.js:1:1)", CODE],
    "a file of axios": [
      "\n    at a (/shop/node_modules/follow-redirects/x.js)\n    at b (/shop/node_modules/axios/y.js)",
      AXIOS_CODE,
    ],
    "the application alone": ["Error\n    at a (/shop/src/pay.js:1:1)", CODE],
    "what a function of the application made": [[{}], CODE],
    nothing: [undefined, CODE],
  };
  for (const [name, [stack, wanted]] of Object.entries(CALLERS)) {
    test(`depends on the callers: ${name}`, () => {
      const { response, error } = refusalOf("auto", "not mocked", [], { stack });
      assert.equal(response?.status ?? error.code, wanted);
    });
  }

  test("does not fail if the stack cannot be read", () => {
    const callers = {
      get stack() {
        throw new Error("of the application");
      },
    };
    assert.equal(refusalOf("auto", "not mocked", [], callers).error.code, CODE);
  });

  test("is chosen by one of three words", () => {
    assert.equal(readSettings({}, {}).strictAnswer, "auto");
    assert.throws(
      () => readSettings({}, { TRAFFICMOCK_STRICT_ANSWER: "403" }),
      /must be "auto", "error" or "response", not "403"/,
    );
  });
});
