import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startNode } from "../lib/child.mjs";
import { startProxy, until } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

/** An application that asks a UNIX socket in the ways of client libraries, when it is told to. */
const APP = `
  const http = require("node:http"), net = require("node:net"), { once } = require("node:events");
  const axios = require("axios"), undici7 = require("undici7"), undici6 = require("undici6");
  const got = import("got");
  const socketPath = process.env.FILE;
  const read = async (answer) => ({ status: answer.statusCode, text: (await answer.toArray()).map(String).join("") });
  const client = { undici7: new undici7.Client("http://docker", { socketPath }), undici6: new undici6.Client("http://docker", { socketPath }) };
  const agent = new undici7.Agent({ connect: { socketPath } });
  const keepAlive = new http.Agent({ keepAlive: true, socketPath });
  const sent = async (req) => {
    const [answer] = await once(req, "response");
    return read(answer);
  };
  const ofUndici = async (answer) => ({ status: answer.statusCode, text: await answer.body.text() });
  const WAYS = {
    "http.get": (path) => sent(http.get({ socketPath, path })),
    "http.request with a body": (path) => {
      const req = http.request({ socketPath, path, method: "POST", host: "docker" });
      req.write("one");
      setTimeout(() => req.end("two"), 5);
      return sent(req);
    },
    "an http.Agent": (path) => sent(http.get({ agent: keepAlive, path, host: "docker" })),
    axios: async (path) => {
      const { status, data } = await axios.get("http://docker" + path, { socketPath, validateStatus: null, transformResponse: String });
      return { status, text: data };
    },
    got: async (path) => {
      const options = { enableUnixSockets: true, throwHttpErrors: false, retry: { limit: 0 } };
      const { statusCode, body } = await (await got).got("http://unix:" + socketPath + ":" + path, options);
      return { status: statusCode, text: body };
    },
    "a Client of undici 6": (path) => client.undici6.request({ path, method: "GET" }).then(ofUndici),
    "a Client of undici 7": (path) => client.undici7.request({ path, method: "POST", body: "onetwo" }).then(ofUndici),
    "an Agent of undici": (path) => undici7.request("http://docker" + path, { dispatcher: agent }).then(ofUndici),
    "fetch of undici": async (path) => {
      const answer = await undici7.fetch("http://docker" + path, { dispatcher: agent });
      return { status: answer.status, text: await answer.text() };
    },
    createConnection: (path) => sent(http.get({ host: "docker", path, createConnection: () => net.connect(socketPath) })),
  };
  const told = (error) => {
    const { code = error.code, message, address, port } = error.cause ?? error;
    return code === "ECONNREFUSED" ? { code, message, address, port } : { error: code ?? message };
  };
  process.on("message", async ({ path, ways }) => {
    const ends = {};
    for (const way of ways ?? Object.keys(WAYS)) ends[way] = await WAYS[way](path).catch(told);
    process.send(ends);
  });
  process.send(Object.keys(WAYS));`;

describe("requests over a UNIX socket", () => {
  let proxy, worker, server, folder, file, app, ways, named;
  /** What reached the server: method, path and body. @type {string[]} */
  let seen = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "socket-"));
    file = join(folder, "api.sock");
    server = http.createServer(async (request, response) => {
      const body = (await request.toArray()).map(String).join("");
      seen.push([request.method, request.url, body, request.headers.host].join(" "));
      if (request.url === "/moved") return response.writeHead(307, { location: "/v1/info" }).end();
      response.end(`real ${request.url}`);
    });
    await once(server.listen(file), "listening");
    proxy = await startProxy();
    worker = await startWorker(proxy.url, { features: ["chain", "strict"] });
    app = await startApp();
    // What takes no route, whatever it opens by itself.
    named = ways.filter((way) => way !== "createConnection");
  });
  after(async () => {
    await app.stop();
    worker.close();
    server.close();
    await rm(folder, { recursive: true });
    await proxy.stop();
  });

  async function startApp(url = proxy.url) {
    const started = await startNode(APP, {
      TRAFFICMOCK_PROXY_URL: url,
      TRAFFICMOCK_CLIENT_ID: "app",
      NODE_OPTIONS: `--require "${join(import.meta.dirname, "../../register.js")}"`,
      FILE: file,
    });
    ways = await started.next();
    return started;
  }

  /** @returns {Promise<Record<string, any>>} what each way ends with */
  async function ask(path, some, from = app) {
    seen = [];
    from.send({ path, ways: some });
    return from.next();
  }

  /** @returns {string} the URL, or glob, of a path */
  const urlOf = (path) => `http+unix://${encodeURIComponent(file)}${path}`;

  /** Register a route for as long as a function runs. */
  async function during(matcher, handler, act) {
    const routeId = `route ${Math.random()}`;
    worker.routes.set(routeId, { kind: "http", handler, test: () => true });
    worker.send({ type: "route:register", routeId, testId: worker.testId, kind: "http", matcher });
    await worker.waitFor("route:registered", (message) => message.routeId === routeId);
    try {
      return await act();
    } finally {
      worker.send({ type: "route:unregister", routeId, testId: worker.testId });
      worker.routes.delete(routeId);
    }
  }

  const all = (end, some = ways) => Object.fromEntries(some.map((way) => [way, end]));
  const history = async () => (await proxy.get("/api/history")).entries;

  test("pass unseen, whatever routes there are that do not name them", async () => {
    const passed = all({ status: 200, text: "real /v1/info" });
    const matchers = [
      { urlGlob: "**" },
      {},
      { urlGlob: "**/v1/info" },
      { urlGlob: "http://*/v1/info" },
      { urlRegex: { source: "unix", flags: "" } },
      { urlGlob: "{http,http+unix}://**/*" },
    ];
    for (const matcher of matchers) {
      const ends = await during(
        matcher,
        (r) => r.text("mocked"),
        () => ask("/v1/info"),
      );
      assert.deepEqual(ends, passed, JSON.stringify(matcher));
      assert.equal(seen.length, ways.length);
    }
    const strict = await startProxy("--strict");
    const refused = await startApp(strict.url);
    assert.deepEqual(await ask("/v1/info", undefined, refused), passed);
    await refused.stop();
    assert.deepEqual((await strict.get("/api/history")).entries, []);
    await strict.stop();
    assert.deepEqual(await history(), []);
  });

  test("are mocked by a route that names them", async () => {
    for (const matcher of [
      { urlGlob: urlOf("/v1/*") },
      { urlGlob: "http+unix://**/v1/info" },
      { urlRegex: { source: "^http\\+unix://.*/v1/info$", flags: "" } },
    ]) {
      const asked = [];
      const handler = (r) => {
        asked.push([r.request.method, r.request.url, r.request.bodyBase64].join(" "));
        return r.text("mocked", { status: 201 });
      };
      const ends = await during(matcher, handler, () => ask("/v1/info"));
      assert.deepEqual(ends, {
        ...all({ status: 201, text: "mocked" }, named),
        createConnection: { status: 200, text: "real /v1/info" },
      });
      assert.equal(seen.length, 1);
      assert.equal(asked.length, named.length);
      assert.equal(asked[0], `GET ${urlOf("/v1/info")} `);
      assert.equal(asked[1], `POST ${urlOf("/v1/info")} ${Buffer.from("onetwo").toString("base64")}`);
    }
    const entries = await until(proxy, "/api/history", ({ entries }) => entries.length === 3 * named.length && entries);
    assert.ok(entries.every(({ request, action }) => request.url === urlOf("/v1/info") && action === "fulfill"));
  });

  test("go on to the same socket, changed or fetched, and fail", async () => {
    const matcher = { urlGlob: urlOf("/v1/info?*") };
    const passed = (text) => all({ status: 200, text }, named);
    assert.deepEqual(
      await during(
        matcher,
        (r) => r.continue(),
        () => ask("/v1/info?q=%2f", named),
      ),
      passed("real /v1/info?q=%2f"),
    );
    assert.deepEqual(seen[0], "GET /v1/info?q=%2f  localhost");
    assert.deepEqual(seen[1], "POST /v1/info?q=%2f onetwo docker");
    const other = (r) => r.continue({ url: urlOf("/other"), headers: { "x-more": "1" } });
    assert.deepEqual(await during(matcher, other, () => ask("/v1/info?q", named)), passed("real /other"));
    const fetched = async (r) => {
      const { response } = await r.fetch({ overrides: { url: urlOf("/moved") } });
      const text = Buffer.from(response.bodyBase64, "base64").toString();
      return r.text(`fetched ${text}`);
    };
    assert.deepEqual(await during(matcher, fetched, () => ask("/v1/info?q", named)), passed("fetched real /v1/info"));
    const failed = await during(
      matcher,
      (r) => r.abort("connectionrefused"),
      () => ask("/v1/info?q", named),
    );
    for (const way of named) {
      const { code, message, port } = failed[way];
      assert.deepEqual(
        { code, message, port },
        { code: "ECONNREFUSED", message: `connect ECONNREFUSED ${file}`, port: undefined },
        way,
      );
    }
    assert.equal(failed["http.get"].address, file);
  });

  test("are mocked at the start of a process, and pass at its start without a proxy", async () => {
    const early = await during(
      { urlGlob: urlOf("/v1/*") },
      (r) => r.text("mocked"),
      async () => {
        const started = await startNode(
          `const http = require("node:http");
         http.get({ socketPath: process.env.FILE, path: "/v1/early" }, (answer) => answer.on("data", (data) => process.send(String(data))));`,
          {
            TRAFFICMOCK_PROXY_URL: proxy.url,
            NODE_OPTIONS: `--require "${join(import.meta.dirname, "../../register.js")}"`,
            FILE: file,
          },
        );
        return started.next();
      },
    );
    assert.equal(early, "mocked");
    const gone = await startApp("http://127.0.0.1:1");
    assert.deepEqual(await ask("/v1/info", undefined, gone), all({ status: 200, text: "real /v1/info" }));
    await gone.stop();
  });
});
