import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { REQUIRE, runNode } from "../lib/child.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

/** A family of processes and threads; each member makes one request, whose path says who it is. */
const FAMILY = `
  const { execFileSync, fork } = require('child_process')
  const cluster = require('cluster')
  const { Worker } = require('worker_threads')
  const ask = (who) => fetch('http://nowhere.test/' + who).then((response) => response.text())
  const go = (who) => '(' + String((who) => fetch('http://nowhere.test/' + who).then((r) => r.text()).then((t) => process.stdout.write(t + ' '), (e) => process.stdout.write(e.cause.code + ' '))) + ')("' + who + '")'
  const ended = (emitter) => new Promise((resolve) => emitter.on('exit', resolve))
  if (process.argv[2] === 'forked') ask('forked')
  else if (cluster.isWorker) ask('cluster').then(() => process.exit())
  else {
    void (async () => {
      await ask('first')
      await ended(new Worker(go('thread'), { eval: true }))
      await ended(new Worker(go('thread'), { eval: true }))
      execFileSync(process.execPath, ['-e', go('exec')], { stdio: 'inherit' })
      await ended(fork(__filename, ['forked']))
      await ended(cluster.fork())
      await ended(cluster.fork())
    })()
  }`;

describe("ids of the members of a family", () => {
  let proxy, worker, folder;
  before(async () => {
    proxy = await startProxy();
    worker = await startWorker(proxy.url);
    await worker.route("nowhere.test", (r) => r.text("mocked"));
    folder = mkdtempSync(join(tmpdir(), "trafficmock-family-"));
    writeFileSync(join(folder, "package.json"), '{"name": "shop"}');
    writeFileSync(join(folder, "family.js"), FAMILY);
  });
  after(async () => {
    worker.close();
    await proxy.stop();
  });

  /** Who asked while a script ran, oldest first: `[path, client id]`. */
  async function askers(code, env = {}) {
    const { entries: before } = await proxy.get("/api/history");
    const known = new Set(before.map(({ id }) => id));
    const { stderr } = await runNode(code, { cwd: folder, preload: "", env });
    assert.equal(stderr, "");
    const { entries } = await proxy.get("/api/history");
    return entries
      .filter(({ id }) => !known.has(id))
      .reverse()
      .map(({ request, clientId }) => [new URL(request.url).pathname.slice(1), clientId]);
  }

  // From a file, not by `-e`: cluster and fork start the script again.
  const START = `require('child_process').execFileSync(process.execPath, ['family.js'], {
    env: { ...process.env, NODE_OPTIONS: ${JSON.stringify(REQUIRE)}, TRAFFICMOCK_PROXY_URL: process.env.PROXY },
    stdio: 'inherit'
  })`;
  const run = (env) => askers(START, { PROXY: proxy.url, ...env });

  test("an id that was given is inherited unchanged", async () => {
    const found = await run({ TRAFFICMOCK_CLIENT_ID: "given" });
    assert.deepEqual(
      found,
      ["first", "thread", "thread", "exec", "forked", "cluster", "cluster"].map((who) => [who, "given"]),
    );
  });

  test("a default id is the package name, and each further member adds what tells it apart", async () => {
    const found = await run({});
    const wanted = [
      ["first", /^shop$/],
      ["thread", /^shop-t\d+$/],
      ["thread", /^shop-t\d+$/],
      ["exec", /^shop-\d+$/],
      ["forked", /^shop-\d+$/],
      ["cluster", /^shop-w1$/],
      ["cluster", /^shop-w2$/],
    ];
    assert.deepEqual(
      found.map(([who]) => who),
      wanted.map(([who]) => who),
    );
    found.forEach(([who, id], at) => assert.match(id, wanted[at][1], who));
    assert.equal(new Set(found.map(([, id]) => id)).size, found.length);
  });

  test("without a package the id is node- and the pid", async () => {
    const bare = mkdtempSync(join(tmpdir(), "trafficmock-bare-"));
    const { stdout } = await runNode('console.log(process.pid); fetch("http://nowhere.test/bare")', {
      cwd: bare,
      env: { TRAFFICMOCK_PROXY_URL: proxy.url },
    });
    const { entries } = await proxy.get("/api/history");
    const { clientId } = entries.find(({ request }) => request.url.endsWith("/bare"));
    assert.equal(clientId, `node-${stdout.trim()}`);
  });

  test("a call attaches this thread only", async () => {
    const code = `require(${JSON.stringify(join(import.meta.dirname, "../../src/index.js"))}).startTrafficMock({ proxyUrl: ${JSON.stringify(proxy.url)}, clientId: 'caller' }).then(async ({ stop }) => {
      await fetch('http://nowhere.test/caller')
      const go = (who) => 'fetch("http://127.0.0.1:2/' + who + '").catch(() => {})'
      await new Promise((resolve) => new (require('worker_threads').Worker)(go('thread'), { eval: true }).on('exit', resolve))
      require('child_process').execFileSync(process.execPath, ['-e', go('child')])
      await stop()
    })`;
    assert.deepEqual(await askers(code), [["caller", "caller"]]);
  });
});
