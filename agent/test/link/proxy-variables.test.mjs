import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { selfSigned } from "../lib/certificate.mjs";
import { REQUIRE, runNode } from "../lib/child.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

describe("an application that is told of the proxy twice", () => {
  let proxy, upstream, env;
  before(async () => {
    proxy = await startProxy();
    upstream = await startUpstream();
    const said = proxy.url.replace("//", "//shop:-@");
    env = {
      TRAFFICMOCK_PROXY_URL: proxy.url,
      NO_PROXY: "db.test",
      HTTP_PROXY: said,
      http_proxy: said,
      https_proxy: "http://other.test:3128",
    };
  });
  after(async () => {
    await upstream.stop();
    await proxy.stop();
  });

  const SHOW =
    "process.stdout.write([process.env.HTTP_PROXY, process.env.http_proxy, process.env.https_proxy, process.env.NO_PROXY].join())";

  test("forgets the variables that name it, and no others", async () => {
    const { stdout, stderr } = await runNode(SHOW, { env });
    assert.equal(stderr, "");
    assert.equal(stdout, ",,http://other.test:3128,db.test");
  });

  test("tells its children of any language of them", async () => {
    const code = `
      const { execFileSync, execSync, spawnSync, exec, spawn } = require('node:child_process')
      const show = ['-c', 'echo "$HTTP_PROXY,$http_proxy"']
      const out = [execFileSync('sh', show), execFileSync('sh', show, { env: { ...process.env, X: '1' } }), execSync(show[1]), spawnSync('sh', show).stdout].map(String)
      exec(show[1], (_, text) => {
        out.push(text)
        spawn('sh', show, { env: { PATH: process.env.PATH } }).stdout.on('data', (data) => {
          out.push(String(data))
          console.log(JSON.stringify(out))
        })
      })`;
    for (const module of [false, true]) {
      const script = module ? code.replace(/const \{(.*)\} = require\((.*)\)/, "import {$1} from $2") : code;
      const { stdout, stderr } = await runNode(script, { env, module });
      assert.equal(stderr, "");
      const told = `${env.HTTP_PROXY},${env.http_proxy}\n`;
      // The last was started with an environment that is not this one.
      assert.deepEqual(JSON.parse(stdout), [told, told, told, told, told, ",\n"]);
    }
  });

  test("tells the children of its worker threads of them, whatever environment these have", async () => {
    const inWorker = `require('node:worker_threads').parentPort.postMessage([process.env.HTTP_PROXY ?? 'none', String(require('node:child_process').execSync('echo "$HTTP_PROXY"'))])`;
    const code = `
      const { Worker } = require('node:worker_threads')
      const show = (options) => new Promise((resolve) => new Worker(${JSON.stringify(inWorker)}, { eval: true, ...options }).on('message', resolve))
      Promise.all([show({}), show({ env: { PATH: process.env.PATH } })]).then((told) => console.log(JSON.stringify(told)))`;
    const { stdout, stderr } = await runNode(code, { env });
    assert.equal(stderr, "");
    const told = ["none", `${env.HTTP_PROXY}\n`];
    assert.deepEqual(JSON.parse(stdout), [told, told]);
  });

  test("does not get them back from somebody who stops using the agent of the preload", async () => {
    const { stdout } = await runNode(
      `require('./src/index.js').startTrafficMock().then(({ stop }) => stop()).then(() => { ${SHOW} })`,
      { env },
    );
    assert.equal(stdout, ",,http://other.test:3128,db.test");
  });

  test("announces a request of a client that reads them once", async () => {
    const { stdout } = await runNode(
      `require('axios').get('${upstream.url}/once').then((r) => console.log(r.status))`,
      { env: { ...env, TRAFFICMOCK_CLIENT_ID: "shop" } },
    );
    assert.equal(stdout, "200\n");
    const { entries } = await proxy.get("/api/history");
    assert.deepEqual(
      entries.map(({ request, clientId }) => [clientId, new URL(request.url).pathname]),
      [["shop", "/once"]],
    );
  });

  test("keeps the connections of clients that read them", async () => {
    const tls = selfSigned();
    const secure = await startUpstream(tls);
    let connections = 0;
    secure.server.on("secureConnection", () => {
      connections += 1;
    });
    const code = `(async () => { for (let i = 0; i < 3; i += 1) await require('axios').get('${secure.url}/kept') })()`;
    const { stderr } = await runNode(code, {
      env: { ...env, https_proxy: env.http_proxy, HTTPS_PROXY: env.HTTP_PROXY, NODE_EXTRA_CA_CERTS: tls.file },
    });
    assert.equal(stderr, "");
    assert.deepEqual(
      secure.seen.map(({ headers }) => headers.connection),
      ["keep-alive", "keep-alive", "keep-alive"],
    );
    assert.equal(connections, 1);
    await secure.stop();
  });

  test("shows a tracer that was there before the requests of the application, and none of the agent", async () => {
    const worker = await startWorker(proxy.url);
    await worker.route("/traced-continued", (r) => r.continue({ headers: { ...r.request.headers, "x-new": "1" } }));
    const spy = join(mkdtempSync(join(tmpdir(), "trafficmock-spy-")), "spy.cjs");
    writeFileSync(
      spy,
      `
      const asked = globalThis.asked = []
      for (const module of [require('http'), require('https')]) {
        const { request } = module
        module.request = (...args) => {
          const req = request(...args)
          asked.push(req.protocol + '//' + req.host + req.path)
          return req
        }
      }`,
    );
    const code = `(async () => {
      for (const path of ['/traced', '/traced-continued']) await require('axios').get('${upstream.url}' + path)
      console.log(globalThis.asked.join())
    })()`;
    const { stdout, stderr } = await runNode(code, { env, preload: `--require "${spy}" ${REQUIRE}` });
    assert.equal(stderr, "");
    assert.equal(stdout, "http://127.0.0.1/traced,http://127.0.0.1/traced-continued\n");
    worker.close();
  });
});
