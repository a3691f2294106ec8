import assert from "node:assert/strict";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { after, before, describe, test } from "node:test";
import axios from "axios";
import FormData from "form-data";
import { HttpProxyAgent } from "http-proxy-agent";
import HttpsProxyAgent5 from "https-proxy-agent5";
import { HttpsProxyAgent as HttpsProxyAgent7 } from "https-proxy-agent7";
import { HttpsProxyAgent as HttpsProxyAgent9 } from "https-proxy-agent9";
import { SocksProxyAgent } from "socks-proxy-agent";
import { startTrafficMock } from "../../index.mjs";
import { selfSigned } from "../lib/certificate.mjs";
import { startProxy, until } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

/** The ways of calling `node:https` with an agent; the host is not looked up, since a proxy connects to it. */
const FORMS = {
  "a URL": (agent) => https.get("https://api.shop.test/x", { agent, headers: HEADERS }),
  "a URL object": (agent) => https.get(new URL("https://api.shop.test/x"), { agent, headers: HEADERS }),
  options: (agent) => https.get({ host: "api.shop.test", path: "/x", agent, headers: HEADERS }),
  "options with a protocol": (agent) =>
    https.get({ protocol: "https:", hostname: "api.shop.test", path: "/x", agent, headers: HEADERS }),
  "a request with a body": (agent) =>
    https.request({ host: "api.shop.test", path: "/x", agent, headers: HEADERS, method: "POST" }),
};
const HEADERS = { authorization: "Bearer SECRET" };

/** Start a proxy that captures the first bytes after the tunnel is open, of CONNECT and of SOCKS 5. */
async function startCapture() {
  const captured = [];
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    let step = 0;
    socket.on("data", (data) => {
      const isSocks = data[0] === 5;
      if (step === 0 && isSocks) socket.write(Buffer.from([5, 0]));
      else if (step === 1 && isSocks) socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
      else if (step === 0 && data.toString().startsWith("CONNECT")) socket.write("HTTP/1.1 200 OK\r\n\r\n");
      else {
        captured.push(data[0] === 22 ? "TLS" : data.toString("latin1"));
        return socket.destroy();
      }
      step += 1;
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return { port, captured, stop: () => new Promise((resolve) => server.close(resolve)) };
}

/** Start a proxy that tunnels whatever CONNECT asks for to one port, and answers other requests with what it got. */
async function startTunnel(port) {
  const server = http.createServer(({ method, url, rawHeaders }, res) => {
    res.end(JSON.stringify({ method, url, rawHeaders }));
  });
  server.on("connect", (_req, client) => {
    const up = net.connect(port, "127.0.0.1", () => client.write("HTTP/1.1 200 OK\r\n\r\n"));
    for (const socket of [client, up]) socket.on("error", () => socket.destroy());
    client.pipe(up).pipe(client);
  });
  const sockets = new Set();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(resolve);
    });
  return { port: server.address().port, stop };
}

const ended = (req) =>
  new Promise((resolve) =>
    req
      .on("error", (error) => resolve(error.code))
      .on("close", resolve)
      .end(),
  );

const body = (req) =>
  new Promise((resolve, reject) => {
    req.on("error", reject);
    req.on("response", async (response) => resolve(Buffer.concat(await response.toArray()).toString()));
    req.end();
  });

describe("agents of libraries", () => {
  let proxy, capture, tunnel, upstream, secure, worker, agent, agents;
  const without = {};
  before(async () => {
    [proxy, capture, upstream, secure] = await Promise.all([
      startProxy(),
      startCapture(),
      startUpstream(),
      startUpstream(selfSigned()),
    ]);
    tunnel = await startTunnel(Number(new URL(secure.url).port));
    const url = `http://127.0.0.1:${capture.port}`;
    agents = {
      "https-proxy-agent 5": () => new HttpsProxyAgent5(url),
      "https-proxy-agent 7": () => new HttpsProxyAgent7(url),
      "https-proxy-agent 9": () => new HttpsProxyAgent9(url),
      "socks-proxy-agent 8": () => new SocksProxyAgent(`socks5h://127.0.0.1:${capture.port}`),
    };
    for (const [name, make] of Object.entries(agents)) without[name] = await arriving(make);
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url);
  });
  after(async () => {
    worker.close();
    await agent.stop();
    await Promise.all([capture.stop(), tunnel.stop(), upstream.stop(), secure.stop()]);
    await proxy.stop();
  });

  /** What arrives behind the proxy, for each form of the call. */
  async function arriving(make) {
    const found = {};
    for (const [form, call] of Object.entries(FORMS)) {
      capture.captured.length = 0;
      await ended(call(make()));
      found[form] = [...capture.captured];
    }
    return found;
  }

  for (const name of ["https-proxy-agent 5", "https-proxy-agent 7", "https-proxy-agent 9", "socks-proxy-agent 8"]) {
    test(`${name}: the same bytes arrive with and without the agent, which are TLS`, async () => {
      assert.deepEqual(await arriving(agents[name]), without[name]);
      for (const [form, bytes] of Object.entries(without[name])) assert.deepEqual(bytes, ["TLS"], form);
      await worker.route("/asked", (r) => r.text("mock"));
      assert.deepEqual(await arriving(agents[name]), without[name]);
    });
  }

  test("axios with nothing but HTTPS_PROXY sends no credentials in clear", async () => {
    process.env.HTTPS_PROXY = `http://127.0.0.1:${capture.port}`;
    try {
      capture.captured.length = 0;
      await assert.rejects(axios.get("https://api.shop.test/x", { headers: HEADERS }));
      assert.deepEqual(capture.captured, ["TLS"]);
    } finally {
      delete process.env.HTTPS_PROXY;
    }
  });

  test("changed and fetched requests go through the application's proxy", async () => {
    const url = `http://127.0.0.1:${tunnel.port}`;
    await worker.route("/proxied-continued", (r) => r.continue({ headers: { "x-new": "1" } }));
    await worker.route("/proxied-fetched", async (r) => r.fulfill((await r.fetch()).response));
    for (const ProxyAgent of [HttpsProxyAgent5, HttpsProxyAgent7, HttpsProxyAgent9]) {
      for (const path of ["/proxied-continued", "/proxied-fetched"]) {
        const given = { agent: new ProxyAgent(url), rejectUnauthorized: false };
        const seen = JSON.parse(await body(https.get(`https://api.shop.test${path}`, given)));
        assert.equal(seen.url ?? seen.path, path);
      }
    }
    for (const path of ["/proxied-continued", "/proxied-fetched"]) {
      const seen = JSON.parse(await body(http.get(`http://api.shop.test${path}`, { agent: new HttpProxyAgent(url) })));
      assert.equal(seen.url, `http://api.shop.test${path}`);
      assert.match(JSON.stringify(seen.rawHeaders), /"host","api\.shop\.test"/i);
    }
  });

  test("a subclass of Node's agent may change the request before it is sent", async () => {
    class Mine extends http.Agent {
      addRequest(req, ...rest) {
        req.setHeader("x-mine", "1");
        return super.addRequest(req, ...rest);
      }
    }
    const seen = JSON.parse(await body(http.get(`${upstream.url}/raw`, { agent: new Mine() })));
    assert.match(JSON.stringify(seen.rawHeaders), /"x-mine","1"/i);
    await worker.route("/mine-mocked", (r) => r.text("mock"));
    assert.equal(await body(http.get(`${upstream.url}/mine-mocked`, { agent: new Mine() })), "mock");
  });

  test("an agent that throws when it is called fails its request with that error", async () => {
    const broken = {
      addRequest() {
        throw new Error("no connection today");
      },
      protocol: "http:",
    };
    await worker.route("/other", (r) => r.fulfill());
    await assert.rejects(body(http.get(`${upstream.url}/broken`, { agent: broken })), /no connection today/);
  });

  test("a request whose signal is aborted already is not held", async () => {
    const controller = new AbortController();
    controller.abort();
    let isRun = false;
    await worker.route("/aborted-before", (r) => {
      isRun = true;
      return r.fulfill();
    });
    const events = [];
    const req = http.request(`${upstream.url}/aborted-before`, { method: "POST", signal: controller.signal });
    const { emit } = req;
    req.emit = (name, ...args) => (events.push(name), emit.call(req, name, ...args));
    await ended(req);
    assert.deepEqual(
      events.filter((name) => name === "socket" || name === "finish"),
      [],
    );
    assert.equal(isRun, false);
  });

  test("a URL that ends in a question mark keeps it", async () => {
    await worker.route("/lone?", (r) => r.continue({ headers: { "x-new": "1" } }));
    for (const path of ["/passed?", "/lone?"]) {
      assert.equal(JSON.parse(await body(http.get({ port: tunnel.port, path }))).url, path);
    }
  });
});

describe("bodies and interceptors of undici", () => {
  let proxy, upstream, worker, agent;
  before(async () => {
    [proxy, upstream] = await Promise.all([startProxy(), startUpstream()]);
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url);
  });
  after(async () => {
    worker.close();
    await agent.stop();
    await upstream.stop();
    await proxy.stop();
  });

  for (const name of ["undici6", "undici7"]) {
    test(`${name}: a form of npm form-data is sent and handed to handlers`, async () => {
      const undici = await import(name);
      await worker.route("/form-mocked", (r) => r.text(r.request.bodyBase64 ? "a body" : "none"));
      for (const [path, expected] of [
        ["/form-mocked", /^a body$/],
        ["/raw", /POST/],
      ]) {
        const form = new FormData();
        form.append("x", "1");
        const given = { method: "POST", body: form, headers: form.getHeaders() };
        const answer = await undici.request(upstream.url + path, given);
        assert.match(await answer.body.text(), expected);
      }
    });
  }

  test("undici 7: a mock above the size of the interceptor dump fails, and does not hang", async () => {
    const { Agent, interceptors, request } = await import("undici7");
    await worker.route("/dumped", (r) => r.text("longer than that"));
    const dispatcher = new Agent().compose(interceptors.dump({ maxSize: 2 }));
    await assert.rejects(request(`${upstream.url}/dumped`, { dispatcher }), { code: "UND_ERR_ABORTED" });
    await until(proxy, "/api/history", ({ entries }) => entries.find((entry) => entry.request.url.endsWith("/dumped")));
  });
});
