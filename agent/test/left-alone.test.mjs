import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http2 from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readSettings } from "../src/settings.js";
import { IMPORT, REQUIRE, runNode } from "./lib/child.mjs";
import { selfSigned } from "./lib/certificate.mjs";
import { startProxy, until } from "./lib/proxy.mjs";
import { startUpstream } from "./lib/upstream.mjs";
import { startWorker } from "./lib/worker.mjs";

describe("what is left alone, what is not, and what is said of it", () => {
  let proxy, upstream, worker;
  before(async () => {
    proxy = await startProxy();
    upstream = await startUpstream();
    worker = await startWorker(proxy.url);
    await worker.route("/mine", (r) => r.text("mocked"));
  });
  after(async () => {
    worker.close();
    await upstream.stop();
    await proxy.stop();
  });

  const ASK = (url) => `(async () => {
    const http = require('node:http')
    const viaHttp = await new Promise((resolve) => http.get('${url}', (response) => response.setEncoding('utf8').on('data', resolve)))
    const viaFetch = await (await fetch('${url}')).text()
    console.log(JSON.stringify([viaHttp, viaFetch].map((text) => text === 'mocked')))
  })()`;

  test("hosts that TRAFFICMOCK_IGNORE_HOSTS names go out unseen, others do not", async () => {
    const { port } = new URL(upstream.url);
    const cases = {
      [`127.0.0.1:${port}`]: false,
      "other.test, 127.0.*": false,
      [`*:${port}`]: false,
      "127.0.0.1:1": true,
      "other.test 0.0.1": true,
      "": true,
    };
    for (const [ignored, isSeen] of Object.entries(cases)) {
      const { stdout, stderr } = await runNode(ASK(`${upstream.url}/mine`), {
        env: {
          TRAFFICMOCK_PROXY_URL: proxy.url,
          TRAFFICMOCK_CLIENT_ID: `ignores-${isSeen}`,
          TRAFFICMOCK_IGNORE_HOSTS: ignored,
        },
      });
      assert.deepEqual([stderr, stdout], ["", `${JSON.stringify([isSeen, isSeen])}\n`], ignored);
    }
    await until(proxy, "/api/history", ({ entries }) => entries.some(({ clientId }) => clientId === "ignores-true"));
    assert.ok(!(await proxy.get("/api/history")).entries.some(({ clientId }) => clientId === "ignores-false"));
  });

  test("a client id that is not one line of printable text is refused, from wherever it comes", () => {
    const proxyUrl = "http://127.0.0.1:4310";
    for (const wrong of ["a\nb", "\u001b[31m", "\u0085", "a\u2028b", "\ud800", "\0"]) {
      const code = wrong
        .match(/[^ab[31m]/)[0]
        .charCodeAt(0)
        .toString(16)
        .padStart(4, "0");
      const error = {
        name: "TypeError",
        message: new RegExp(`clientId .TRAFFICMOCK_CLIENT_ID. must be one line.*\\\\u${code}`),
      };
      assert.throws(() => readSettings({ proxyUrl, clientId: wrong }, {}), error);
      assert.throws(() => readSettings({ proxyUrl }, { TRAFFICMOCK_CLIENT_ID: wrong }), error);
    }
    assert.throws(() => readSettings({ proxyUrl: "http://a%0Ab@127.0.0.1:4310" }, {}), /one line of printable text/);
    for (const odd of ["@shop/web é (2)", "日本語", "\u00a0", "👩‍💻"]) {
      assert.equal(readSettings({ proxyUrl, clientId: odd }, {}).clientId, odd);
    }
  });

  test("what is no host is refused by name", () => {
    for (const wrong of ["http://a.test", "a.test/x", "a test", "", "[1:2]", "fe80::1%eth0", "[::1]:x", "::1:x"]) {
      assert.throws(
        () => readSettings({ ignoreHosts: ["ok.test", wrong] }, {}),
        ({ name, message }) =>
          name === "TypeError" &&
          message.includes("TRAFFICMOCK_IGNORE_HOSTS") &&
          message.endsWith(`not ${JSON.stringify(wrong)}`),
      );
    }
    assert.throws(() => readSettings({ ignoreHosts: "a.test" }, {}), TypeError);
    assert.throws(() => readSettings({}, { TRAFFICMOCK_IGNORE_HOSTS: "https://a.test" }), /a\.test/);
    assert.deepEqual(readSettings({}, { TRAFFICMOCK_IGNORE_HOSTS: " a.test,*.b.test:443 [::1]:4318 " }).ignoreHosts, [
      "a.test",
      "*.b.test:443",
      "[::1]:4318",
    ]);
  });

  test("a worker thread with an environment of its own joins", async () => {
    const inWorker = `fetch('http://nowhere.test/mine').then((response) => response.text()).then((text) => require('node:worker_threads').parentPort.postMessage(text), (error) => require('node:worker_threads').parentPort.postMessage(String(error.cause)))`;
    for (const options of [
      "env: {}",
      "env: {}, execArgv: []",
      'env: { NODE_OPTIONS: "--no-warnings" }',
      'name: "inherits"',
    ]) {
      for (const preload of [REQUIRE, IMPORT]) {
        const code = `new (require('node:worker_threads').Worker)(${JSON.stringify(inWorker)}, { eval: true, ${options} }).on('message', console.log)`;
        const { stdout, stderr } = await runNode(code, { preload, env: { TRAFFICMOCK_PROXY_URL: proxy.url } });
        assert.deepEqual([stderr, stdout], ["", "mocked\n"], `${options} ${preload}`);
      }
    }
  });

  test("a first HTTP/2 session is said to be unseen, once, unless its host is to be left alone", async (t) => {
    const server = http2.createServer((req, res) => res.end("two")).listen(0, "127.0.0.1");
    t.after(() => server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const origin = `http://127.0.0.1:${server.address().port}`;
    const code = `
      const http2 = require('node:http2')
      const ask = () => new Promise((resolve) => {
        const session = http2.connect('${origin}')
        session.request({ ':path': '/' }).on('data', (data) => resolve(String(data))).on('close', () => session.close())
      })
      ask().then(ask).then(console.log)`;
    const env = { TRAFFICMOCK_PROXY_URL: proxy.url };
    for (const module of [false, true]) {
      const script = module
        ? code.replace(/const http2 = require\('node:http2'\)/, "import http2 from 'node:http2'")
        : code;
      const { stdout, stderr } = await runNode(script, { env, module });
      assert.equal(stdout, "two\n");
      assert.match(
        stderr,
        new RegExp(`^trafficmock: HTTP/2 is not seen: what goes to ${origin} [^\\n]*TRAFFICMOCK_IGNORE_HOSTS\\.\\n$`),
      );
    }
    assert.equal((await runNode(code, { env: { ...env, TRAFFICMOCK_IGNORE_HOSTS: "127.0.0.1" } })).stderr, "");
    // What is in such a directory is the application, whatever the directory is called.
    const directory = mkdtempSync(join(tmpdir(), "undici-shop-"));
    writeFileSync(join(directory, "index.js"), code);
    const { stdout, stderr } = await runNode(`require(${JSON.stringify(`${directory}/index.js`)})`, { env });
    rmSync(directory, { recursive: true });
    assert.deepEqual([stdout, stderr.split(":")[1]], ["two\n", " HTTP/2 is not seen"]);
  });

  test("Node warns of what it deprecates where the application asks for it, not where a package does", async () => {
    const env = { TRAFFICMOCK_PROXY_URL: proxy.url };
    for (const code of ["require('node-fetch2')", "require('punycode')"]) {
      const [attached, alone] = await Promise.all([REQUIRE, ""].map((preload) => runNode(code, { env, preload })));
      const warning = ({ stderr }) => stderr.replace(/\d+/, "PID");
      assert.equal(warning(attached), warning(alone), code);
    }
  });

  test("needle at our own proxy, which it asks for https by absolute URL: a handler changes and fetches", async () => {
    const tls = selfSigned();
    const secure = await startUpstream(tls);
    await worker.route("/needle-continue", (r) => r.continue({ headers: { ...r.request.headers, "x-new": "1" } }));
    await worker.route("/needle-fetch", async (r) => r.fulfill((await r.fetch()).response));
    const code = `(async () => {
      for (const path of ['/needle-continue', '/needle-fetch', '/needle-pass']) console.log((await require('needle')('get', '${secure.url}' + path, { proxy: '${proxy.url}' })).body.url)
    })()`;
    const { stdout, stderr } = await runNode(code, {
      env: { TRAFFICMOCK_PROXY_URL: proxy.url, NODE_EXTRA_CA_CERTS: tls.file },
    });
    assert.deepEqual([stderr, stdout], ["", "/needle-continue\n/needle-fetch\n/needle-pass\n"]);
    assert.ok(secure.seen[0].rawHeaders.includes("x-new"));
    await secure.stop();
  });
});
