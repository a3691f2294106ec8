import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { createRequire } from "node:module";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, before, describe, test } from "node:test";
import axios from "axios";
import * as undici6 from "undici6";
import * as undici7 from "undici7";
import { startTrafficMock } from "../../index.mjs";
import { selfSigned } from "../lib/certificate.mjs";
import { startProxy, until } from "../lib/proxy.mjs";
import { startRawServer } from "../lib/raw-server.mjs";
import { startWorker } from "../lib/worker.mjs";

/*
 * Of a request that a test sends on, only what the test changes is changed; what is no test's business is left alone; and
 * what the application's library refuses, it refuses under the agent as well.
 */

const PATHS = [
  "/odata?$filter=Name%20eq%20'Milk'",
  "/a/../b",
  "/a/%2e%2e/b",
  '/j?f={"a":[1]}',
  "/a\\b",
  "/q?",
  "//x/y",
];
/** undici 8 needs Node 22. */
const isNew = Number(process.versions.node.split(".")[0]) >= 22;
const COPIES = { 6: undici6, 7: undici7, ...(isNew && { 8: await import("undici8") }) };
const PHRASES = { latin: Buffer.from("Non-Autoris\xe9", "latin1"), utf8: Buffer.from("✓ all", "utf8") };

describe("what is sent on", () => {
  let proxy, raw, worker, agent, phrases, secure, local, socketPath, hints;
  const names = [];
  before(async () => {
    raw = await startRawServer();
    const certificate = selfSigned();
    secure = https.createServer(certificate, (req, res) => res.end("ok"));
    secure.on("secureConnection", (socket) => names.push(socket.servername));
    phrases = net.createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (data) => {
        const [, kind] = /^GET \S*\/(\w+) /.exec(String(data));
        socket.write("HTTP/1.1 401 ");
        socket.write(PHRASES[kind]);
        socket.end("\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      });
    });
    hints = net.createServer((socket) => {
      socket
        .on("error", () => {})
        .on("data", (data) => {
          const isHead = String(data).startsWith("HEAD");
          socket.write(
            "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n",
          );
          socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n");
          if (!isHead) socket.write("4\r\nbody\r\n0\r\nX-Sum: 7\r\n\r\n");
        });
    });
    local = http.createServer((req, res) => res.end(JSON.stringify([req.headers.host, req.headers.baggage ?? ""])));
    socketPath = join(tmpdir(), `trafficmock-${process.pid}.sock`);
    for (const [server, at] of [
      [secure, 0],
      [phrases, 0],
      [local, socketPath],
      [hints, 0],
    ]) {
      await new Promise((resolve) => (at ? server.listen(at, resolve) : server.listen(0, "127.0.0.1", resolve)));
    }
    proxy = await startProxy();
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url);
  });
  after(async () => {
    worker.close();
    await agent.stop();
    await raw.stop();
    for (const server of [secure, phrases, local, hints]) {
      server.closeAllConnections?.();
      server.close();
    }
    await proxy.stop();
  });

  /** Continue what comes with one header more. */
  const more = (route) => route.continue({ headersList: [...route.request.headersList, ["X-More", "1"]] });

  test("a changed header leaves the path as it was written", async () => {
    await worker.route(raw.url, more);
    for (const path of PATHS) {
      const [response] = await once(http.get({ host: "127.0.0.1", port: raw.port, path }), "response");
      await once(response.resume(), "end");
      const [sent] = raw.take();
      assert.deepEqual([sent.split(" ")[1], /X-More: 1/.test(sent)], [path, true]);
    }
    for (const [version, undici] of Object.entries(COPIES)) {
      for (const path of PATHS) {
        const client = new undici.Client(raw.url);
        const { body } = await client.request({ path, method: "GET" });
        await body.dump();
        await client.close();
        assert.equal(raw.take()[0].split(" ")[1], path, version);
      }
    }
  });

  test("a changed header leaves the method, a body of GET, and a path that is none as they are", async () => {
    await worker.route(raw.url, more);
    for (const options of [
      { method: "OPTIONS", path: "*" },
      { method: "GET", path: "/search", headers: { "Content-Length": 4 }, body: "body" },
    ]) {
      const { body, ...given } = options;
      const req = http.request({ host: "127.0.0.1", port: raw.port, ...given });
      req.end(body);
      await once((await once(req, "response"))[0].resume(), "end");
      const [sent] = raw.take();
      assert.equal(sent.split(" ", 2).join(" "), `${options.method} ${options.path}`);
      assert.equal(sent.split("\r\n\r\n")[1], body ?? "");
    }
    for (const undici of Object.values(COPIES)) {
      await (await undici.request(`${raw.url}/m`, { method: "patch" })).body.dump();
      assert.match(raw.take()[0], /^patch /);
      await (await undici.request(`${raw.url}/m`, { method: "GET", body: "body" })).body.dump();
      assert.match(raw.take()[0], /^GET [^]*\r\n\r\nbody$/);
    }
  });

  test("a changed header leaves `connection` and chunks as they are", async () => {
    for (const undici of Object.values(COPIES)) {
      const body = () => Readable.from([Buffer.from("one"), Buffer.from("two")]);
      const options = { method: "POST", headers: { connection: "close" } };
      await (await undici.request(`${raw.url}/c`, { ...options, body: body() })).body.dump();
      const [sent] = raw.take();
      assert.match(sent, /\r\nconnection: close\r\n/i);
      assert.match(sent, /\r\ntransfer-encoding: chunked\r\n/i);
      assert.doesNotMatch(sent, /content-length/i);
    }
    await (await fetch(`${raw.url}/c`, { method: "POST", body: Readable.from(["one"]), duplex: "half" })).text();
    assert.match(raw.take()[0], /\r\ntransfer-encoding: chunked\r\n/i);
    const req = http.request(`${raw.url}/c`, { method: "POST", agent: false });
    req.write("one");
    setTimeout(() => req.end("two"), 5);
    await once((await once(req, "response"))[0].resume(), "end");
    assert.match(raw.take()[0], /\r\ntransfer-encoding: chunked\r\n/i);
  });

  test("requests of one connection keep their order while one of them asks the proxy", async () => {
    for (const [version, undici] of Object.entries(COPIES)) {
      const client = new undici.Client(raw.url);
      const ask = async (number) => (await client.request({ path: `/${number}`, method: "GET" })).body.dump();
      await ask(0);
      // Less than half of the lease is left.
      await new Promise((resolve) => setTimeout(resolve, 600));
      await Promise.all([1, 2, 3, 4, 5].map(ask));
      await client.close();
      assert.deepEqual(
        raw.take().map((sent) => sent.split(" ")[1]),
        ["/0", "/1", "/2", "/3", "/4", "/5"],
        version,
      );
    }
  });

  test("trailers of an answer arrive when a header was changed", async () => {
    const server = http.createServer((req, res) => {
      res.writeHead(200, { Trailer: "X-Sum" });
      res.write("body");
      res.addTrailers({ "X-Sum": "7" });
      res.end();
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${server.address().port}/trailers`;
    await worker.route("/trailers", more);
    const [response] = await once(http.get(url), "response");
    await once(response.resume(), "end");
    assert.deepEqual(response.trailers, { "x-sum": "7" });
    server.closeAllConnections();
    server.close();
  });

  /** What a client gets of the server that sends informational responses and trailers: status, body, hints, trailers. */
  const HINTED = {
    "node:http": async (url, method) => {
      const heard = [];
      const req = http.request(url, { method, agent: false });
      req.on("information", ({ statusCode, headers: { link = "" } }) => heard.push(`${statusCode} ${link}`)).end();
      const [response] = await once(req, "response");
      const body = Buffer.concat(await response.toArray()).toString();
      return [response.statusCode, body, heard, response.trailers];
    },
    fetch: async (url, method) => {
      const response = await fetch(url, { method });
      return [response.status, await response.text()];
    },
    ...Object.fromEntries(
      Object.entries(COPIES).map(([version, undici]) => [
        `undici ${version}`,
        async (url, method) => {
          const heard = [];
          const dispatcher = new undici.Agent();
          const onInfo = ({ statusCode, headers: { link = "" } }) => heard.push(`${statusCode} ${link}`);
          const response = await undici.request(url, { method, dispatcher, onInfo });
          const body = await response.body.text();
          void dispatcher.destroy();
          return [response.statusCode, body, heard, { ...response.trailers }];
        },
      ]),
    ),
  };

  for (const [client, ask] of Object.entries(HINTED)) {
    for (const method of ["GET", "HEAD"]) {
      test(`informational responses and trailers pass, and trailers are given after a fetch: ${client}, ${method}`, async () => {
        const base = `http://127.0.0.1:${hints.address().port}/hinted`;
        const fetched = [];
        await worker.route("/hinted/more", more);
        await worker.route("/hinted/later", (route) => setTimeout(() => route.continue(), 150));
        await worker.route("/hinted/fetched", async (route) => {
          const { response } = await route.fetch();
          fetched.push([
            response.status,
            Buffer.from(response.bodyBase64 ?? "", "base64").toString(),
            Object.keys(response.headers),
            response.trailers,
          ]);
          route.fulfill(response);
        });
        const plain = await ask(`${base}/plain`, method);
        const body = method === "HEAD" ? "" : "body";
        assert.deepEqual(plain.slice(0, 2), [200, body]);
        assert.deepEqual(await ask(`${base}/more`, method), plain);
        const later = `${base}/later?${client.replace(/\W/g, "")}`;
        assert.deepEqual(await ask(later, method), plain);
        if (method === "GET") {
          const { id } = await until(proxy, "/api/history", ({ entries }) =>
            entries.find((each) => each.request.url === later && each.outcome.response),
          );
          const { entry } = await proxy.get(`/api/history/${id}`);
          assert.deepEqual(entry.outcome.response.trailers, [["X-Sum", "7"]]);
        }
        const again = plain.map((each, index) => (index === 2 ? [] : each));
        assert.deepEqual(await ask(`${base}/fetched`, method), again);
        // Without a body, it is about the one that GET gets.
        const names = method === "HEAD" ? ["transfer-encoding", "trailer"] : ["trailer"];
        const trailers = method === "HEAD" ? undefined : [["X-Sum", "7"]];
        assert.deepEqual(fetched, [[200, body, names, trailers]]);
      });
    }
  }

  test("a fetch of a test names the server as the application's request does", async () => {
    await worker.route("/named", async (route) => route.fulfill((await route.fetch()).response));
    const { port } = secure.address();
    for (const more of [{ headers: { Host: "other.shop.test" } }, { servername: "named.test" }, {}]) {
      const options = { host: "127.0.0.1", port, path: "/named", rejectUnauthorized: false, agent: false, ...more };
      const [response] = await once(https.get(options), "response");
      await once(response.resume(), "end");
    }
    assert.deepEqual(names.splice(0), ["other.shop.test", "named.test", false]);
  });

  test("an agent that sets headers itself serves what a test sends on", async () => {
    class Signed extends https.Agent {
      addRequest(req, options) {
        req.setHeader("x-signed", "1");
        return super.addRequest(req, options);
      }
    }
    await worker.route("/signed", async (route) => route.fulfill((await route.fetch()).response));
    await worker.route("/signed-on", more);
    const { port } = secure.address();
    for (const path of ["/signed", "/signed-on"]) {
      const keep = new Signed({ rejectUnauthorized: false });
      const [response] = await once(https.get({ host: "127.0.0.1", port, path, agent: keep }), "response");
      assert.equal(response.statusCode, 200);
      await once(response.resume(), "end");
      keep.destroy();
    }
  });

  test("a request to a socket in the file system is no test's", async () => {
    await worker.route("/info", (route) => route.text("mocked"));
    const [response] = await once(http.get({ socketPath, path: "/info" }), "response");
    assert.equal(JSON.parse(Buffer.concat(await response.toArray()))[0], "localhost");
    const keep = new http.Agent({ socketPath });
    const [kept] = await once(http.get("http://docker/info", { agent: keep }), "response");
    assert.equal(JSON.parse(Buffer.concat(await kept.toArray()))[0], "docker");
    // axios names the host by its address.
    assert.match((await axios.get("http://localhost/info", { socketPath })).data[0], /^(localhost|\[::1\])$/);
    for (const [version, undici] of Object.entries(COPIES)) {
      const dispatcher = new undici.Agent({ connect: { socketPath } });
      const { body } = await undici.request("http://docker/info", { dispatcher });
      assert.equal((await body.json())[0], "docker");
      await dispatcher.close();
      // The class of a client that does not keep its options is another one from the moment on in which the agent attaches.
      const { Client } = createRequire(import.meta.url)(`undici${version}`);
      const client = new Client("http://docker", { socketPath });
      assert.ok(client instanceof undici.Client);
      assert.equal((await (await client.request({ path: "/info", method: "GET" })).body.json())[0], "docker");
      await client.close();
    }
  });

  test("a reason phrase of any bytes can be given again", async () => {
    const base = `http://127.0.0.1:${phrases.address().port}`;
    const plain = {};
    for (const kind of Object.keys(PHRASES)) plain[kind] = (await fetch(`${base}/plain/${kind}`)).statusText;
    await worker.route("/again/", async (route) => {
      const { response } = await route.fetch();
      route.fulfill(response);
    });
    for (const kind of Object.keys(PHRASES)) {
      assert.equal((await fetch(`${base}/again/${kind}`)).statusText, plain[kind]);
      const [response] = await once(http.get(`${base}/again/${kind}`), "response");
      assert.equal(response.statusMessage, PHRASES[kind].toString("latin1"));
      response.resume();
    }
  });

  for (const [version, undici] of Object.entries(COPIES)) {
    test(`what undici ${version} refuses is refused by it, mocked or not`, async () => {
      const WRONG = {
        expect: { headers: { expect: "100-continue" } },
        "transfer-encoding": { headers: { "transfer-encoding": "chunked" } },
        upgrade: { headers: { upgrade: "x" } },
        "keep-alive": { headers: { "keep-alive": "5" } },
        connection: { headers: { connection: "x-hop" } },
        "a name with a space": { headers: { "a b": "1" } },
        "a value with a line break": { headers: { a: "1\r\nb: 2" } },
        "no length": { headers: { "content-length": "x" } },
        "another length": { headers: { "content-length": "3" } },
        "a name without a value": { headers: ["a"] },
        "a body of no kind": { body: { a: 1 } },
        "a time limit": { headersTimeout: -1 },
        "an upgrade to a number": { upgrade: 5 },
        "an option of another version": { throwOnError: true },
      };
      const agents = new undici.Agent();
      const failure = (url, options, dispatcher = agents) =>
        undici.request(url, { method: "POST", body: "body", dispatcher, ...options }).then(
          async ({ statusCode, body }) => [statusCode, await body.dump()],
          ({ name, code, message }) => [name, code, message],
        );
      await worker.route(`/mocked-${version}`, (route) => route.text("mocked"));
      await worker.route(`/more-${version}`, more);
      for (const [kind, options] of Object.entries(WRONG)) {
        await agent.stop();
        const plain = await failure(`${raw.url.replace("127.0.0.1", "localhost")}/plain`, options);
        agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
        for (const path of [`/mocked-${version}`, `/more-${version}`]) {
          const under = await failure(`http://refused.test:${raw.port}${path}`, options);
          if (typeof plain[0] === "string") assert.deepEqual(under, plain, `${kind}, ${path}`);
        }
        raw.take();
      }
      const origin = `http://refused.test:${raw.port}`;
      const balanced = new undici.BalancedPool(origin);
      const [, code] = await failure(`${origin}/mocked-${version}`, WRONG.expect, balanced);
      assert.equal(code, "UND_ERR_NOT_SUPPORTED");
      await Promise.all([agents.close(), balanced.close()]);
    });
  }
});
