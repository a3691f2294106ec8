import assert from "node:assert/strict";
import http from "node:http";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import { REQUIRE, startNode } from "../lib/child.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

const TRACER = `--require ${createRequire(import.meta.url).resolve("@opentelemetry/auto-instrumentations-node/register")}`;
const ORDERS = { "the tracer first": `${TRACER} ${REQUIRE}`, "the agent first": `${REQUIRE} ${TRACER}` };
const IDS = { A: "a".repeat(32), B: "b".repeat(32), C: "c".repeat(32) };
const WAYS = new URL("../apps/ways.cjs", import.meta.url).pathname;
/** Asks a host, of which the address is the upstream's, with each client. */
const ASKING = `
  const dns = require('node:dns')
  const http = require('node:http')
  const { lookup } = dns
  dns.lookup = (host, options, done) => lookup('127.0.0.1', options, done)
  const undici = require('undici7')
  const viaHttp = (url) => new Promise((resolve, reject) => http.get(url, (r) => r.resume().on('end', resolve)).on('error', reject))
  const server = http.createServer(async (req, res) => {
    const url = 'http://' + req.headers['x-host'] + ':' + new URL(process.env.UPSTREAM).port + '/passed'
    await fetch(url).then((r) => r.text())
    await undici.request(url).then((r) => r.body.text())
    await viaHttp(url)
    await require('axios').get(url)
    res.end()
  }).listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))`;

const ask = (port, path, headers) =>
  new Promise((resolve, reject) => {
    const req = http.request({ host: "127.0.0.1", port, path: encodeURI(path), method: "POST", headers });
    req.on("error", reject).on("response", async (response) => resolve((await response.toArray()).join("")));
    req.end('{"some":"body"}');
  });

describe("beside OpenTelemetry", () => {
  let proxy, upstream, workers;
  before(async () => {
    proxy = await startProxy();
    upstream = await startUpstream();
    workers = await Promise.all(Object.values(IDS).map((context) => startWorker(proxy.url, { context })));
    await Promise.all(
      Object.keys(IDS).map((name, at) => workers[at].route("api.shop.test/price", (route) => route.text(name))),
    );
  });
  after(async () => {
    for (const worker of workers) worker.close();
    await upstream.stop();
    await proxy.stop();
  });

  const start = async (t, code, preload) => {
    const app = await startNode(code, {
      TRAFFICMOCK_PROXY_URL: proxy.url,
      UPSTREAM: upstream.url,
      NODE_OPTIONS: preload,
      OTEL_TRACES_EXPORTER: "none",
      OTEL_METRICS_EXPORTER: "none",
      OTEL_LOGS_EXPORTER: "none",
      OTEL_NODE_RESOURCE_DETECTORS: "none",
      OTEL_NODE_DISABLED_INSTRUMENTATIONS: "dns",
    });
    // The tracer keeps a process that gets SIGTERM.
    t.after(() => app.stop("SIGKILL"));
    return app;
  };

  for (const [order, preload] of Object.entries(ORDERS)) {
    test(`a request belongs to the test that led to it; ${order}`, { timeout: 120000 }, async (t) => {
      const app = await start(t, `require(${JSON.stringify(WAYS)})`, preload);
      const { port, ways } = await app.next();
      const wrong = {};
      for (const way of ways) {
        const headers = (id) => ({ "content-type": "application/json", baggage: `x=1,trafficmock.test=${id}` });
        const said = await Promise.all(Object.values(IDS).map((id) => ask(port, `/${way}`, headers(id))));
        const expected = way === "two at once" ? ["A,A", "B,B", "C,C"] : ["A", "B", "C"];
        if (said.join() !== expected.join()) wrong[way] = said;
      }
      assert.deepEqual(wrong, {});
    });

    test(
      `nothing of it leaves for others, and the rest of the baggage does; ${order}`,
      { timeout: 120000 },
      async (t) => {
        const app = await start(t, ASKING, preload);
        const { port } = await app.next();
        for (const [host, isOwn] of Object.entries({ "third.example": false, "127.0.0.1": true })) {
          upstream.seen.length = 0;
          const traceparent = `00-${IDS.A}-00f067aa0ba902b7-01`;
          await ask(port, "/", { "x-host": host, baggage: `x=1,trafficmock.test=${IDS.A},y=2`, traceparent });
          assert.equal(upstream.seen.length, 4);
          const traces = new Set(upstream.seen.map(({ headers }) => headers.traceparent.slice(3, 35)));
          assert.equal(traces.size, 1);
          assert.equal(traces.has(IDS.A), isOwn);
          if (!isOwn) {
            assert.doesNotMatch(JSON.stringify(upstream.seen.map(({ headers }) => headers)), new RegExp(IDS.A));
          }
          for (const { headers } of upstream.seen) {
            const members = headers.baggage.split(",").map((member) => member.trim());
            assert.deepEqual(members.sort(), [...(isOwn ? [`trafficmock.test=${IDS.A}`] : []), "x=1", "y=2"], host);
          }
        }
      },
    );
  }
});
