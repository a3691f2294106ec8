import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { after, before, describe, test } from "node:test";
import axios from "axios";
import FormData from "form-data";
import got from "got";
import needle from "needle";
import nodeFetch from "node-fetch";
import nodeFetch2 from "node-fetch2";
import { startTrafficMock } from "../../index.mjs";
import { runNode } from "../lib/child.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

const TIMEOUT_MS = 200;

/** @returns {FormData} that ends, as its streams do, without a call of `end()` on the request */
function form() {
  const data = new FormData();
  data.append("x", "1");
  return data;
}

/** Each client asks for a URL and gives up after {@link TIMEOUT_MS}, as its own option says. */
const IMPATIENT = {
  axios: (url) => axios.get(url, { timeout: TIMEOUT_MS, adapter: "http" }),
  "node-fetch 2": (url) => nodeFetch2(url, { timeout: TIMEOUT_MS }),
  needle: (url) => needle("get", url, { response_timeout: TIMEOUT_MS }),
  "got, of the response": (url) => got.get(url, { timeout: { response: TIMEOUT_MS }, retry: { limit: 0 } }),
  "node:http timeout": (url) =>
    new Promise((resolve, reject) => {
      const req = http.get(url, { timeout: TIMEOUT_MS }, resolve);
      req.on("timeout", () => req.destroy(new Error("timeout"))).on("error", reject);
    }),
  "node:http socket": (url) =>
    new Promise((resolve, reject) => {
      const req = http.get(url, resolve).on("error", reject);
      req.once("socket", (socket) => socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("timeout"))));
    }),
};

describe("libraries on node:http while a test decides", () => {
  let proxy, upstream, worker, agent;
  before(async () => {
    proxy = await startProxy();
    upstream = await startUpstream();
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url);
  });
  after(async () => {
    worker.close();
    await agent.stop();
    await upstream.stop();
    await proxy.stop();
  });

  for (const [name, send] of Object.entries(IMPATIENT)) {
    test(
      `${name}: its timeout fires while a handler thinks, and the test hears that it gave up`,
      { timeout: 30000 },
      async () => {
        const path = `/slow-${name.replace(/\W/g, "-")}`;
        await worker.route(path, () => {});
        await assert.rejects(send(`http://pay.test${path}`), (error) =>
          /timeout|ECONNABORTED|ECONNRESET/i.test(`${error.code} ${error.message}`),
        );
        const { requestId } = await worker.waitFor("request:matched", ({ request }) => request.url.endsWith(path));
        await worker.waitFor("request:response", (message) => message.requestId === requestId && message.error);
      },
    );
  }

  test(
    "a mock arrives at the socket that the application has seen, of which it hears once",
    { timeout: 30000 },
    async () => {
      const { sockets, response, decide } = await thinking("/early-mock", () => {});
      decide({ action: "fulfill", response: { status: 200, statusText: "", headers: {}, bodyBase64: null } });
      assert.equal((await response).socket, sockets[0]);
      assert.equal(sockets.length, 1);
    },
  );

  test(
    "a mock comes whole to a client that reads along at its socket, as node-fetch 3 does",
    { timeout: 30000 },
    async () => {
      const seen = [];
      const { response, decide } = await thinking("/early-data", (_, socket) =>
        socket.on("data", (data) => seen.push(data)),
      );
      decide({ action: "fulfill", response: { status: 201, statusText: "", headers: {}, bodyBase64: null } });
      assert.equal((await response).statusCode, 201);
      assert.match(String(Buffer.concat(seen)), /^HTTP\/1.1 201 /);
    },
  );

  test(
    "what was asked of the socket before there was one does not fail while a handler thinks",
    { timeout: 30000 },
    async () => {
      await worker.route("/early-options", () => {});
      const req = http.get(`${upstream.url}/early-options`);
      // As superagent does.
      req.setNoDelay(true);
      req.setSocketKeepAlive(true);
      await once(req, "socket");
      const { requestId } = await worker.waitFor("request:matched", ({ request }) =>
        request.url.endsWith("/early-options"),
      );
      worker.send({ type: "handler:result", requestId, result: { action: "continue" } });
      const [response] = await once(req, "response");
      assert.equal(response.resume().statusCode, 200);
    },
  );

  test(
    "passthrough after a long thought uses the socket that the application has, with the timeout that was asked for",
    { timeout: 30000 },
    async () => {
      const { sockets, response, decide } = await thinking("/early-pass", () => {});
      sockets[0].setTimeout(12345);
      decide({ action: "continue" });
      const { socket, statusCode } = await response;
      assert.equal(statusCode, 200);
      assert.deepEqual([sockets.length, sockets[0] === socket, socket.timeout], [1, true, 12345]);
      assert.equal(upstream.seen.filter(({ url }) => url === "/early-pass").length, 1);
    },
  );

  test("a request that waits for a handler hears once that it is sent", { timeout: 30000 }, async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    await worker.route("/early-finish", () => {});
    for (const at of [0, 1]) {
      const path = `/early-finish?at=${at}`;
      let finished = 0;
      const req = http.request(`${upstream.url}${path}`, { method: "POST", agent }).on("finish", () => (finished += 1));
      const response = once(req, "response");
      await new Promise((resolve) => req.end("body", resolve));
      const { requestId } = await worker.waitFor("request:matched", ({ request }) => request.url.endsWith(path));
      worker.send({ type: "handler:result", requestId, result: { action: "continue" } });
      const [{ statusCode }] = await response.then(([found]) => once(found.resume(), "end").then(() => [found]));
      // The connection is free again only when Node's own listener has heard that the request is sent.
      assert.deepEqual([statusCode, finished], [200, 1]);
    }
    agent.destroy();
  });

  test(
    "what a request asks of its socket, as superagent does, reaches the one that it gets",
    { timeout: 5000 },
    async () => {
      const asked = [];
      const { setKeepAlive } = net.Socket.prototype;
      net.Socket.prototype.setKeepAlive = function (...args) {
        asked.push(args);
        return setKeepAlive.apply(this, args);
      };
      try {
        const { response, decide } = await thinking(
          "/early-asked",
          () => {},
          (req) => {
            req.setNoDelay(true);
            req.setSocketKeepAlive(true, 4321);
          },
        );
        decide({ action: "continue" });
        assert.equal((await response).statusCode, 200);
      } finally {
        net.Socket.prototype.setKeepAlive = setKeepAlive;
      }
      assert.deepEqual(
        asked.filter(([, delay]) => delay === 4321),
        [[true, 4321]],
      );
    },
  );

  /** A request that has its socket before a handler has decided. */
  async function thinking(path, more, before = () => {}) {
    await worker.route(path, () => {});
    const req = http.get(upstream.url + path);
    before(req);
    const sockets = [];
    req.on("socket", (socket) => sockets.push(socket));
    const response = once(req, "response").then(([answer]) => answer.resume());
    await once(req, "socket");
    more(req, sockets[0]);
    const { requestId } = await worker.waitFor("request:matched", ({ request }) => request.url.endsWith(path));
    return { sockets, response, decide: (result) => worker.send({ type: "handler:result", requestId, result }) };
  }

  test(
    "a body that the application does not finish fails its request, with how much of it came",
    { timeout: 60000 },
    async () => {
      const hasty = await startProxy("--body-timeout-ms", "300");
      const app = `
      const http = require('http')
      const req = http.request('http://pay.test/unfinished', { method: 'POST', headers: { 'content-length': 10 } })
      req.on('error', (error) => console.log(error.code, error.message))
      req.write('12345')
      const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('123')) })
      fetch('http://pay.test/unfinished', { method: 'POST', body, duplex: 'half' }).catch(({ cause }) => console.log(cause.code, cause.message))`;
      const tester = await startWorker(hasty.url);
      await tester.route("/unfinished", (r) => r.text("never"));
      const { stdout } = await runNode(app, { env: { TRAFFICMOCK_PROXY_URL: hasty.url } });
      const [first, second] = stdout.trim().split("\n").sort();
      assert.match(
        first,
        /^ERR_TRAFFICMOCK_INTERNAL .*POST http:\/\/pay\.test\/unfinished .*300 ms \(10 bytes are announced\).*--body-timeout-ms.* 5 bytes of its body were written\.$/,
      );
      assert.match(second, /\(its length is not announced\).* 3 bytes of its body were written\.$/);
      await tester.waitFor("proxy:error", ({ message }) => message.includes("--body-timeout-ms"));
      tester.close();
      await hasty.stop();
    },
  );

  test(
    "node-fetch 3 with form-data, which never ends its request: every decision reaches it",
    { timeout: 60000 },
    async () => {
      const bodies = [];
      const decide = (act) => (r) => {
        bodies.push(Buffer.from(r.request.bodyBase64, "base64").toString());
        return act(r);
      };
      await worker.route(
        "/form-mock",
        decide((r) => r.text("mocked")),
      );
      await worker.route(
        "/form-continue",
        decide((r) => r.continue({ headers: { ...r.request.headers, "x-new": "1" } })),
      );
      await worker.route(
        "/form-fetch",
        decide(async (r) => r.fulfill((await r.fetch()).response)),
      );
      await worker.route(
        "/form-abort",
        decide((r) => r.abort("connectionrefused")),
      );
      const send = (path) =>
        nodeFetch(upstream.url + path, { method: "POST", body: form() }).then((response) => response.text());
      assert.equal(await send("/form-mock"), "mocked");
      for (const path of ["/form-continue", "/form-fetch", "/form-pass"]) {
        assert.match(JSON.parse(await send(path)).body, /name="x"\r\n\r\n1\r\n/, path);
      }
      await assert.rejects(send("/form-abort"), { code: "ECONNREFUSED" });
      assert.equal(bodies.length, 4);
      for (const body of bodies) assert.match(body, /name="x"\r\n\r\n1\r\n/);
    },
  );

  test(
    "a changed continue hands on a relative location, and a response that breaks off, as the server sent them",
    { timeout: 30000 },
    async () => {
      await worker.route("/redirect", (r) => r.continue({ headers: { ...r.request.headers, "x-new": "1" } }));
      await worker.route("/broken", (r) => r.continue({ headers: { ...r.request.headers, "x-new": "1" } }));
      const [redirect] = await once(http.get(`${upstream.url}/redirect?to=/echo`), "response");
      assert.equal(redirect.resume().headers.location, "/echo");
      const events = [];
      const req = http.get(`${upstream.url}/broken`).on("error", () => events.push("request error"));
      const [response] = await once(req, "response");
      response
        .on("aborted", () => events.push("aborted"))
        .on("error", ({ code }) => events.push(code))
        .resume();
      await new Promise((resolve) => response.on("close", resolve));
      assert.deepEqual(events, ["aborted", "ECONNRESET"]);
    },
  );

  test("a changed continue of a request that asked for its 100 is told to go on once", { timeout: 30000 }, async () => {
    await worker.route("/expect-continue", (r) => r.continue({ headers: { ...r.request.headers, "x-new": "1" } }));
    let told = 0;
    const req = http.request(`${upstream.url}/expect-continue`, {
      method: "POST",
      headers: { expect: "100-continue", "content-length": 4 },
    });
    req.on("continue", () => {
      told += 1;
      req.end("body");
    });
    req.flushHeaders();
    const [response] = await once(req, "response");
    const { body, rawHeaders } = JSON.parse(Buffer.concat(await response.toArray()));
    assert.deepEqual([told, body, rawHeaders.includes("x-new")], [1, "body", true]);
  });
});
