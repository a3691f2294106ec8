import assert from "node:assert/strict";
import http from "node:http";
import { test } from "node:test";
import { startNode } from "../lib/child.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

const MIB = 2 ** 20;
const LEG = 5000;

/** Four kinds of requests in turn, 8 in flight; after each leg it says what its memory is. */
const LOAD = `
  const http = require('http')
  const { PROXY, UPSTREAM, LEG } = process.env
  const agent = new http.Agent({ keepAlive: true })
  const get = (url) => new Promise((resolve, reject) => http.get(url, { agent }, (r) => r.resume().on('end', resolve)).on('error', reject))
  const kinds = [
    () => fetch(UPSTREAM + '/x').then((r) => r.text()),
    () => fetch(UPSTREAM + '/mocked', { method: 'POST', body: 'b'.repeat(1000) }).then((r) => r.text()),
    () => get(UPSTREAM + '/x'),
    () => get(UPSTREAM + '/mocked')
  ]
  const leg = async (count) => {
    let next = 0
    await Promise.all(Array.from({ length: 8 }, async () => { while (next < count) await kinds[next++ % 4]() }))
    for (let i = 0; i < 3; i += 1) { gc(); await new Promise((resolve) => setTimeout(resolve, 50)) }
    const { heapUsed, external, rss } = process.memoryUsage()
    process.send({ heap: heapUsed + external, rss })
  }
  require('./src/index.js').startTrafficMock({ proxyUrl: PROXY }).then(async ({ stop }) => {
    for (let i = 0; i < 5; i += 1) await leg(Number(LEG))
    await stop()
    agent.destroy()
    process.send('stopped')
  })`;

test("memory is flat over 20,000 requests", { timeout: 280000 }, async () => {
  const proxy = await startProxy();
  const worker = await startWorker(proxy.url);
  await worker.route("/mocked", (route) => route.text("mocked"));
  const upstream = http.createServer((request, response) => response.end('{"a":1}')).listen(0, "127.0.0.1");
  await new Promise((resolve) => upstream.once("listening", resolve));
  const app = await startNode(LOAD, {
    NODE_OPTIONS: "--expose-gc",
    PROXY: proxy.url,
    UPSTREAM: `http://127.0.0.1:${upstream.address().port}`,
    LEG: String(LEG),
  });
  const legs = [];
  // The first leg warms up; the four that count are 20,000 requests.
  for (let i = 0; i < 5; i += 1) legs.push(await app.next());
  const grown = (what) => (legs.at(-1)[what] - legs[0][what]) / MIB;
  process.stdout.write(
    `memory over ${4 * LEG} requests, Node ${process.version}: heap ${grown("heap").toFixed(2)} MiB, rss ${grown("rss").toFixed(1)} MiB more; after each leg ${legs.map(({ heap, rss }) => `${(heap / MIB).toFixed(1)}/${(rss / MIB).toFixed(0)}`).join(" ")}\n`,
  );
  assert.ok(grown("heap") < 1, `heap ${grown("heap")} MiB more`);
  assert.ok(grown("rss") < 24, `rss ${grown("rss")} MiB more`);
  assert.equal(await app.next(), "stopped");
  await app.stop();
  worker.close();
  upstream.closeAllConnections();
  upstream.close();
  await proxy.stop();
});
