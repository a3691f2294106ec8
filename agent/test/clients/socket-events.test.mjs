import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { after, before, describe, test } from "node:test";
import tls from "node:tls";
import { HttpProxyAgent } from "http-proxy-agent";
import { take } from "../../../tests/interop/clients/node/lib/events.cjs";
import { startTrafficMock } from "../../index.mjs";
import { selfSigned } from "../lib/certificate.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

/*
 * What an application hears of a request, of its socket and of its response, in order: without the agent, and with it
 * when the request passes, passes after a test thought about it, is changed, and is mocked.
 */

const HANG_MS = 5000;

/** End a request, and give it. */
function ended(req, body) {
  req.end(body);
  return req;
}

/** Ways to write a request. Each gets what opens it, and gives the request. */
const WRITERS = {
  get: (open) => ended(open()),
  post: (open) => ended(open({ method: "POST" }), "body"),
  "post, when it is connected": (open, ready) => {
    const req = open({ method: "POST" });
    req.once("socket", (socket) => socket.once(ready, () => req.end("body")));
    return req;
  },
  "post, if it connects": (open, ready) => {
    const req = open({ method: "POST" });
    const go = () => req.end("body");
    return req.on("socket", (socket) => (socket.connecting ? socket.once(ready, go) : go()));
  },
  "post, head first": (open, ready) => {
    const req = open({ method: "POST" });
    req.flushHeaders();
    const go = () => req.end("body");
    return req.on("socket", (socket) => (socket.readyState === "open" ? go() : socket.on(ready, go)));
  },
  "post, in pieces": (open) => {
    const req = open({ method: "POST" });
    req.write("bo");
    setTimeout(() => req.end("dy"), 5);
    return req;
  },
  "post, when it is ready": (open) => {
    const req = open({ method: "POST" });
    setTimeout(() => {
      req.setHeader("x-late", "1");
      req.end("body");
    }, 80);
    return req;
  },
  "post, with a listener, when it is ready": (open) => {
    const req = open({ method: "POST" }).on("socket", () => {});
    setTimeout(() => req.end("body"), 80);
    return req;
  },
  "given up in the response": (open) => ended(open().on("response", (response) => response.req.destroy())),
};

const DECIDED = {
  fallback: (route) => route.result({ action: "fallback" }),
  "fallback, later": (route) => setTimeout(() => route.result({ action: "fallback" }), 150),
  "continue, later": (route) => setTimeout(() => route.continue(), 150),
  "continue with headers": (route) => route.continue({ headers: { "x-new": "1" } }),
  "continue with headers, later": (route) => setTimeout(() => route.continue({ headers: { "x-new": "1" } }), 150),
  fulfill: (route) => route.text("{}"),
  "fulfill, later": (route) => setTimeout(() => route.text("{}"), 150),
};

/** Ways to give a request up. */
const GIVEN_UP = {
  destroy: (req) => req.destroy(),
  "destroy with an error": (req) => req.destroy(new Error("given up")),
  abort: (req) => req.abort(),
};
/** The time after which it is given up: in its first tick, before a test is asked, and while the test thinks; ms. */
const GIVEN_UP_MS = [undefined, 0, 20, 200];

/** What is not tried in the deep run alone. */
const USUAL = ["fallback, later", "continue with headers", "fulfill"];
const USUAL_SECURE = ["get", "post, when it is connected"];
const isUsual = (usual, name) => Boolean(process.env.TRAFFICMOCK_DEEP) || usual.includes(name);

/** Events without what the network decides: whether the body is sent before the answer begins, and what is closed first. */
function settled(lines) {
  const closed = lines.filter((line) => / (close|finish)$/.test(line)).sort();
  return [...lines.filter((line) => !closed.includes(line)), ...closed];
}

/** Make a call, and give its events. */
async function events(make, module, url, options) {
  const open = (more) =>
    module.request(url, { ...options, ...more }, (response) => response.on("error", () => {}).resume());
  const req = make(open, module === https ? "secureConnect" : "connect");
  req.on("error", () => {});
  let timer;
  const isOver = await Promise.race([
    // Unlike `once`, it does not end with an error.
    new Promise((resolve) => req.once("close", () => resolve(true))),
    new Promise((resolve) => {
      timer = setTimeout(resolve, HANG_MS, false);
    }),
  ]);
  clearTimeout(timer);
  if (!isOver) req.destroy();
  const [lines] = await take();
  return isOver ? settled(lines) : ["HANGS", ...lines];
}

describe("events of requests", () => {
  let proxy, upstream, secure, worker, agent;
  const plain = {};
  const certificate = selfSigned();
  const silent = { http: http.createServer(() => {}), https: https.createServer(certificate, () => {}) };
  before(async () => {
    for (const server of Object.values(silent)) await new Promise((go) => server.listen(0, "127.0.0.1", go));
    upstream = await startUpstream();
    secure = await startUpstream(certificate);
    for (const name of Object.keys(WRITERS)) {
      for (const scheme of ["http", "https"]) plain[`${name}, ${scheme}`] = await call(name, scheme, "/plain");
    }
    for (const name of Object.keys(GIVEN_UP)) {
      for (const scheme of ["http", "https"]) {
        for (const ms of GIVEN_UP_MS) plain[`${name}, ${scheme}, ${ms}`] = await giveUp(name, scheme, ms, "/plain");
      }
    }
    proxy = await startProxy();
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url, { features: ["chain"] });
    // The worker's own connection.
    await take();
    for (const [at, decide] of Object.values(DECIDED).entries()) await worker.route(`/decided-${at}`, decide);
    await worker.route("/never-decided", () => {});
  });
  after(async () => {
    worker.close();
    await agent.stop();
    for (const server of Object.values(silent)) {
      server.closeAllConnections();
      server.close();
    }
    await Promise.all([upstream.stop(), secure.stop()]);
    await proxy.stop();
  });

  function call(name, scheme, path) {
    const [module, server] = scheme === "http" ? [http, upstream] : [https, secure];
    return events(WRITERS[name], module, server.url + path, { agent: false, ca: certificate.cert });
  }

  /**
   * Give a request up. One that is given up soon has no connection by then: the name of its host is looked up for ever.
   * The other one's server is silent.
   */
  async function giveUp(name, scheme, ms, path) {
    const make = (open) => {
      const req = ended(open());
      if (ms === undefined) GIVEN_UP[name](req);
      else setTimeout(GIVEN_UP[name], ms, req);
      return req;
    };
    const module = scheme === "http" ? http : https;
    const isLate = ms === GIVEN_UP_MS.at(-1);
    const base = isLate ? `${scheme}://127.0.0.1:${silent[scheme].address().port}` : `${scheme}://slow.test`;
    const options = { agent: false, ca: certificate.cert, ...(!isLate && { lookup: () => {} }) };
    // The listeners of a socket hear of its end after those of the request; whether it ends before, no listener hears.
    return (await events(make, module, base + path, options)).filter((line) => line !== "socket close");
  }

  const fulfilled = `/decided-${Object.keys(DECIDED).indexOf("fulfill")}`;

  for (const name of Object.keys(GIVEN_UP)) {
    for (const scheme of ["http", "https"]) {
      for (const ms of GIVEN_UP_MS) {
        test(`given up while a test thinks: ${name} after ${ms ?? "no"} ms, ${scheme}`, async () => {
          assert.deepEqual(await giveUp(name, scheme, ms, "/never-decided"), plain[`${name}, ${scheme}, ${ms}`]);
        });
      }
    }
  }

  test("the socket of a mock is what that of a server is", async () => {
    const [response] = await once(https.get(`${secure.url}${fulfilled}`), "response");
    const { socket } = response;
    assert.ok(socket instanceof net.Socket && socket instanceof tls.TLSSocket);
    const certificate = socket.getPeerCertificate();
    assert.equal(tls.checkServerIdentity("127.0.0.1", certificate), undefined);
    assert.ok(socket.getPeerX509Certificate().checkIP("127.0.0.1"));
    assert.deepEqual([socket.getProtocol(), socket.getCipher().version], ["TLSv1.3", "TLSv1.3"]);
    assert.equal(socket.exportKeyingMaterial(20, "label").length, 20);
    assert.deepEqual(socket.exportKeyingMaterial(20, "label"), socket.exportKeyingMaterial(20, "label"));
    assert.deepEqual(
      [socket.getFinished().length, socket.getSession(), socket.isSessionReused()],
      [48, undefined, false],
    );
    const refused = new Promise((resolve) => assert.equal(socket.renegotiate({}, resolve), false));
    assert.match((await refused).message, /renegotiate/);
    const { remoteAddress, remotePort, readyState, connecting, pending, authorized, encrypted } = socket;
    assert.deepEqual(
      [remoteAddress, remotePort, readyState, connecting, pending, authorized, encrypted],
      ["127.0.0.1", Number(new URL(secure.url).port), "open", false, false, true, true],
    );
    assert.deepEqual(socket.address(), { address: "127.0.0.1", family: "IPv4", port: socket.localPort });
    assert.ok(socket.bytesRead > 0 && socket.bytesWritten > 0);
    for (const name of Object.getOwnPropertyNames(tls.TLSSocket.prototype)) {
      // The others are Node's own, and begin with an underscore.
      if (!/^_|^constructor$|^renegotiate$|^exportKeyingMaterial$/.test(name)) socket[name]();
    }
    socket.resetAndDestroy();
    response.on("error", () => {});
    await once(response.req, "close");
    const plainly = await once(http.get(`${upstream.url}${fulfilled}`), "response");
    assert.ok(plainly[0].socket instanceof net.Socket && !(plainly[0].socket instanceof tls.TLSSocket));
    plainly[0].resume();
    await once(plainly[0].req, "close");
    await take();
  });

  test("a socket that the application ends in the response closes", async () => {
    for (const path of ["/passed", fulfilled, `/decided-${Object.keys(DECIDED).indexOf("continue with headers")}`]) {
      const ends = (open) => ended(open().on("response", (response) => response.socket.end()));
      assert.ok(!(await events(ends, http, upstream.url + path, { agent: false })).includes("HANGS"), path);
    }
  });

  test("an error is given to the sockets of an application once", async () => {
    // As urllib does: it marks an error with its socket, which can be done once.
    const { destroy } = net.Socket.prototype;
    net.Socket.prototype.destroy = function (error) {
      if (error) Object.defineProperty(error, "socket", { value: this });
      return destroy.call(this, error);
    };
    try {
      for (const name of ["fallback, later", "continue with headers"]) {
        const path = `/decided-${Object.keys(DECIDED).indexOf(name)}`;
        const req = http.get(`http://127.0.0.1:1${path}`, { agent: false });
        await assert.rejects(once(req, "response"), { code: "ECONNREFUSED" }, name);
      }
    } finally {
      net.Socket.prototype.destroy = destroy;
    }
  });

  test("a kept connection's mock that is given up in the response closes once", async () => {
    for (const path of ["/passed", fulfilled]) {
      const keepAlive = new http.Agent({ keepAlive: true });
      const lines = await events(WRITERS["given up in the response"], http, upstream.url + path, { agent: keepAlive });
      assert.equal(lines.filter((line) => line === "request close").length, 1, path);
      keepAlive.destroy();
    }
  });

  test("a connection that is kept is used again by what passes after a test thought about it", async () => {
    const keepAlive = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const later = `/decided-${Object.keys(DECIDED).indexOf("fallback, later")}`;
    const ports = [];
    for (const path of ["/passed", later, later, "/passed"]) {
      const [response] = await once(http.get(upstream.url + path, { agent: keepAlive }), "response");
      ports.push(response.socket.localPort);
      await once(response.resume(), "end");
    }
    assert.equal(new Set(ports).size, 1, String(ports));
    keepAlive.destroy();
    await take();
  });

  test("an upgrade goes both ways through the socket that was given before", async () => {
    const later = `/decided-${Object.keys(DECIDED).indexOf("fallback, later")}`;
    const server = http.createServer().on("upgrade", (req, socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nfirst ");
      socket.on("data", (data) => socket.end(`echo ${data}`)).on("error", () => {});
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${server.address().port}`;
    for (const path of ["/passed", later]) {
      const req = http.get(url + path, { headers: { Connection: "Upgrade", Upgrade: "echo" } });
      const [, socket, head] = await once(req, "upgrade");
      socket.write("hello");
      const chunks = [head];
      socket.on("data", (data) => chunks.push(data));
      await once(socket, "end");
      socket.end();
      await once(socket, "close");
      assert.equal(Buffer.concat(chunks).toString(), "first echo hello", path);
    }
    server.close();
    await take();
  });

  test("a library's agent writes the head of a request that passes late", async () => {
    const later = `/decided-${Object.keys(DECIDED).indexOf("fallback, later")}`;
    const asked = [];
    const forward = http.createServer((req, res) => {
      asked.push(req.url);
      req.resume().on("end", () => res.end("forwarded"));
    });
    await new Promise((resolve) => forward.listen(0, "127.0.0.1", resolve));
    const through = new HttpProxyAgent(`http://127.0.0.1:${forward.address().port}`);
    const req = http.request(upstream.url + later, { method: "POST", agent: through });
    req.end("body");
    const [response] = await once(req, "response");
    assert.equal(Buffer.concat(await response.toArray()).toString(), "forwarded");
    assert.deepEqual(asked, [upstream.url + later]);
    forward.closeAllConnections();
    forward.close();
    await take();
  });

  for (const name of Object.keys(WRITERS)) {
    for (const scheme of ["http", "https"]) {
      if (scheme === "https" && !isUsual(USUAL_SECURE, name)) continue;
      test(`${name}, ${scheme}: passed`, async () => {
        assert.deepEqual(await call(name, scheme, "/passed"), plain[`${name}, ${scheme}`]);
      });
      for (const [at, decided] of Object.keys(DECIDED).entries()) {
        if (!isUsual(USUAL, decided)) continue;
        test(`${name}, ${scheme}: ${decided}`, async () => {
          assert.deepEqual(await call(name, scheme, `/decided-${at}`), plain[`${name}, ${scheme}`]);
        });
      }
    }
  }
});
