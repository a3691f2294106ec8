import assert from "node:assert/strict";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { Readable, Writable } from "node:stream";
import { after, before, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { selfSigned } from "../lib/certificate.mjs";
import { startProxy, until } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

const MIB = 2 ** 20;

/** One request of node:http, as its events. */
function request(module, url, options = {}, body = undefined) {
  return new Promise((resolve, reject) => {
    const req = module.request(url, options, async (response) => {
      resolve({
        status: response.statusCode,
        rawHeaders: response.rawHeaders,
        body: Buffer.concat(await response.toArray()),
        socket: response.socket,
      });
    });
    req.on("error", reject);
    if (typeof body === "function") body(req);
    else req.end(body);
  });
}

describe("the application's own client", () => {
  let proxy, upstream, secure, worker, agent, tls, undici;
  before(async () => {
    tls = selfSigned();
    proxy = await startProxy();
    upstream = await startUpstream();
    secure = await startUpstream(tls);
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url);
    undici = await import("undici7");
  });
  after(async () => {
    worker.close();
    await agent.stop();
    await Promise.all([upstream.stop(), secure.stop()]);
    await proxy.stop();
  });

  test("its TLS options are used on passthrough, continue and fetch", async () => {
    const dispatcher = new undici.Agent({ connect: { ca: tls.cert } });
    await worker.route("/tls-fetched", async (r) => r.fulfill((await r.fetch()).response));
    await worker.route("/tls-continued", (r) => r.continue({ headers: { "x-new": "1" } }));
    for (const path of ["/tls-plain", "/tls-fetched", "/tls-continued"]) {
      assert.equal((await undici.request(secure.url + path, { dispatcher })).statusCode, 200, path);
      assert.equal((await request(https, secure.url + path, { ca: tls.cert })).status, 200, path);
    }
    await assert.rejects(fetch(`${secure.url}/untrusted`), (error) => /SELF_SIGNED|UNABLE/.test(error.cause.code));
    await assert.rejects(request(https, `${secure.url}/untrusted`), { code: /SELF_SIGNED|UNABLE/ });
  });

  test("its keep-alive connections are used again", async () => {
    const keepAlive = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const [one, two] = [
      await request(http, `${upstream.url}/k1`, { agent: keepAlive }),
      await request(http, `${upstream.url}/k2`, { agent: keepAlive }),
    ];
    assert.equal(one.socket, two.socket);
    keepAlive.destroy();
  });

  test("names, order and repeats of headers reach both sides as they are", async () => {
    const headers = ["X-First", "1", "host", new URL(upstream.url).host, "Accept", "a", "x-LAST", "2", "Accept", "b"];
    const { body } = await request(http, `${upstream.url}/raw`, { headers });
    assert.deepEqual(JSON.parse(body).rawHeaders.slice(0, headers.length), headers);
    const seen = await until(proxy, "/api/history", ({ entries }) =>
      entries.find((entry) => entry.request.url.endsWith("/raw")),
    );
    assert.deepEqual(seen.request.headersList.slice(0, 5).flat(), headers);
    const cookies = await request(http, `${upstream.url}/cookies`);
    assert.deepEqual(cookies.rawHeaders.slice(0, 6), [
      "Set-Cookie",
      "A=1; Path=/",
      "X-Case",
      "Kept",
      "Set-Cookie",
      "B=2; Path=/",
    ]);
    const row = await until(proxy, "/api/history", ({ entries }) =>
      entries.find((entry) => entry.request.url.endsWith("/cookies") && entry.outcome.response),
    );
    assert.deepEqual(row.outcome.response.headersList.slice(0, 3), [
      ["Set-Cookie", "A=1; Path=/"],
      ["X-Case", "Kept"],
      ["Set-Cookie", "B=2; Path=/"],
    ]);
  });

  test("its timeout fires while a handler takes its time", async () => {
    await worker.route("/slow", () => {});
    const timedOut = (options, set) =>
      new Promise((resolve, reject) => {
        const req = http.get("http://nowhere.test/slow", options, reject);
        set(req);
        req.on("timeout", () => req.destroy(new Error("my timeout")));
        req.on("error", resolve);
      });
    assert.equal((await timedOut({ timeout: 100 }, () => {})).message, "my timeout");
    assert.equal((await timedOut({}, (req) => req.setTimeout(100))).message, "my timeout");
    await assert.rejects(fetch("http://nowhere.test/slow", { signal: AbortSignal.timeout(100) }), {
      name: "TimeoutError",
    });
  });

  test("agents of its own kind, and connections that it makes itself, are seen", async () => {
    await worker.route("/custom", (r) => r.text("mocked"));
    class OwnAgent {
      addRequest(req, options) {
        req.onSocket(net.connect(options.port, options.host));
      }
    }
    const mocked = await request(http, "http://127.0.0.1:2/custom", { agent: new OwnAgent() });
    assert.equal(String(mocked.body), "mocked");
    const made = await request(http, `${upstream.url}/custom`, {
      createConnection: (options) => net.connect(options.port, options.host),
    });
    assert.equal(String(made.body), "mocked");
    await assert.rejects(
      request(http, "http://127.0.0.1:2/nobody", {
        createConnection: (options) => net.connect(options.port, options.host),
      }),
      { code: "ECONNREFUSED" },
    );
  });

  test("bodies of every kind arrive whole", async () => {
    const form = new FormData();
    form.append("field", "value");
    form.append("file", new Blob(["contents"]), "name.txt");
    const stream = () => Readable.from(["str", "eam"]);
    const bodies = {
      form,
      buffer: Buffer.from("buffer"),
      view: new Uint8Array([49, 50]),
      blob: new Blob(["blob"]),
      stream: stream(),
      web: Readable.toWeb(stream()),
    };
    const wanted = {
      form: /name="file"; filename="name.txt"[^]*contents/,
      buffer: /^buffer$/,
      view: /^12$/,
      blob: /^blob$/,
      stream: /^stream$/,
      web: /^stream$/,
    };
    for (const [name, body] of Object.entries(bodies)) {
      const response = await fetch(`${upstream.url}/body-${name}`, { method: "POST", body, duplex: "half" });
      assert.match((await response.json()).body, wanted[name]);
      const row = await until(proxy, "/api/history", ({ entries }) =>
        entries.find((entry) => entry.request.url.endsWith(`/body-${name}`) && !entry.request.bodyPending),
      );
      assert.match(Buffer.from(row.request.bodyBase64, "base64").toString("latin1"), wanted[name]);
    }
    const ownForm = new undici.FormData();
    ownForm.append("field", "value");
    const { body } = await undici.request(`${upstream.url}/own-form`, {
      method: "POST",
      body: ownForm,
      dispatcher: new undici.Agent(),
    });
    assert.match((await body.json()).body, /name="field"\r\n\r\nvalue/);
    const piped = await request(http, `${upstream.url}/piped`, { method: "PUT" }, (req) => stream().pipe(req));
    assert.equal(JSON.parse(piped.body).body, "stream");
  });

  test("informational responses reach it", async () => {
    await worker.route("/hinted-continued", (r) => r.continue({ headers: { "x-new": "1" } }));
    const server = http
      .createServer((_, response) => {
        response.writeEarlyHints({ link: "</a.css>; rel=preload" });
        response.writeProcessing();
        response.end("late");
      })
      .listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    for (const path of ["/hinted", "/hinted-continued"]) {
      const url = `http://127.0.0.1:${server.address().port}${path}`;
      const told = [];
      const { body } = await request(http, url, {}, (req) =>
        req.on("information", ({ statusCode }) => told.push(statusCode)).end(),
      );
      const viaUndici = await undici.request(url, { onInfo: ({ statusCode }) => told.push(statusCode) });
      assert.deepEqual([told, String(body), await viaUndici.body.text()], [[103, 102, 103, 102], "late", "late"]);
      assert.equal(await (await fetch(url)).text(), "late");
    }
    server.closeAllConnections();
    server.close();
  });

  test("every way to send through undici is seen", async () => {
    await worker.route("/all-ways", (r) => r.text("mocked"));
    for (const name of ["undici6", "undici7"]) {
      const { stream, pipeline, request: send, Pool, Client, RetryAgent, Agent } = await import(name);
      const read = async ({ body }) => body.text();
      const target = { path: "/all-ways", method: "GET" };
      const ways = {
        stream: async (url) => {
          const chunks = [];
          await stream(
            url,
            { method: "GET" },
            () =>
              new Writable({
                write(chunk, _, done) {
                  chunks.push(chunk);
                  done();
                },
              }),
          );
          return Buffer.concat(chunks).toString();
        },
        pipeline: async (url) =>
          Buffer.concat(
            await Readable.from(["in"])
              .pipe(pipeline(url, { method: "POST" }, ({ body }) => body))
              .toArray(),
          ).toString(),
        Pool: async (url) => read(await new Pool(new URL(url).origin).request(target)),
        Client: async (url) => read(await new Client(new URL(url).origin).request(target)),
        RetryAgent: async (url) => read(await send(url, { dispatcher: new RetryAgent(new Agent()) })),
      };
      for (const [way, call] of Object.entries(ways)) {
        assert.equal(await call("http://nowhere.test/all-ways"), "mocked", `${name} ${way}`);
      }
    }
  });

  test("a body that is announced before it is sent waits for its 100", async () => {
    const { status, body } = await request(
      http,
      `${upstream.url}/expect`,
      { method: "POST", headers: { expect: "100-continue" } },
      (req) => {
        req.flushHeaders();
        req.on("continue", () => req.end("after 100"));
      },
    );
    assert.equal(status, 200);
    assert.equal(JSON.parse(body).body, "after 100");
  });

  test("a large response flows whole; its copy is cut and says so", async () => {
    const bytes = 20 * MIB;
    const response = await fetch(`${upstream.url}/stream-big?bytes=${bytes}`);
    let size = 0;
    for await (const chunk of response.body) size += chunk.length;
    assert.equal(size, bytes);
    const row = await until(proxy, "/api/history", ({ entries }) =>
      entries.find(
        (entry) =>
          entry.request.url.includes("/stream-big") && entry.outcome.response && !entry.outcome.response.bodyPending,
      ),
    );
    const { truncated, bodySize, bodyBase64 } = row.outcome.response;
    assert.deepEqual([truncated, bodySize, Buffer.from(bodyBase64, "base64").length], [true, bytes, 8 * MIB]);
  });

  test("a handler's fetch obeys maxRedirects and maxRetries", async () => {
    const results = [];
    await worker.route("/limits", async (r) => {
      const url = `${upstream.url}/redirect?to=/redirect?to=/echo`;
      results.push(await r.fetch({ overrides: { url }, maxRedirects: 0 }));
      results.push(await r.fetch({ overrides: { url }, maxRedirects: 1 }));
      results.push(await r.fetch({ overrides: { url }, maxRedirects: 2 }));
      results.push(await r.fetch({ overrides: { url: `${upstream.url}/reset` }, maxRetries: 1 }));
      results.push(await r.fetch({ overrides: { url: "http://127.0.0.1:2/" } }));
      r.text("done");
    });
    for (const send of [(url) => fetch(url), (url) => request(http, url)]) {
      results.length = 0;
      await send("http://nowhere.test/limits");
      const [none, one, two, retried, refused] = results;
      assert.equal(none.response.status, 302);
      assert.match(one.error.message, /Max redirect count exceeded/);
      assert.equal(two.response.status, 200);
      assert.match(retried.error.message, /^Failed after 2 attempt\(s\): /);
      assert.equal(refused.error.code, "ECONNREFUSED");
    }
  });

  test("two tests that want one request fail it with the proxy's code", async () => {
    const other = await startWorker(proxy.url);
    await worker.route("/both", (r) => r.text("one"));
    await other.route("/both", (r) => r.text("two"));
    await assert.rejects(
      fetch("http://nowhere.test/both"),
      (error) => error.cause.code === "ERR_TRAFFICMOCK_AMBIGUOUS_ROUTE",
    );
    await assert.rejects(request(http, "http://nowhere.test/both"), { code: "ERR_TRAFFICMOCK_AMBIGUOUS_ROUTE" });
    other.close();
  });
});
