import assert from "node:assert/strict";
import http from "node:http";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { REQUIRE, runNode } from "../lib/child.mjs";
import { STREAM_FEATURES, mockStreams } from "../lib/mocked-streams.mjs";
import { startProxy, until } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

const MIB = 2 ** 20;
const WARM_UP = 100 * MIB;
const BYTES = 500 * MIB;
/** What garbage that is not collected yet may amount to. */
const SLACK = 60 * MIB;

/** Runs in the application: moves bytes, and prints the most memory it had, in MiB, after each run. */
const APP = `
const http = require('node:http')
const { Readable } = require('node:stream')
const url = process.env.UPSTREAM
const MIB = 2 ** 20
let most = 0
const look = () => { most = Math.max(most, process.memoryUsage().rss) }
function * pieces (bytes) {
  const piece = Buffer.alloc(64 * 1024, 'b')
  for (; bytes > 0; bytes -= piece.length) {
    look()
    yield piece
  }
}
const pause = () => new Promise(setImmediate)
const count = async (body, between) => {
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    look()
    await between?.()
  }
  return size
}
const runs = {
  'fetch down': async (bytes) => count((await fetch(url + '/down?' + bytes)).body),
  'http down': (bytes) => new Promise((resolve, reject) => http.get(url + '/down?' + bytes, (res) => count(res).then(resolve, reject)).on('error', reject)),
  'fetch mocked': async (bytes) => count((await fetch(url + '/mocked/' + bytes)).body, pause),
  'http mocked': (bytes) => new Promise((resolve, reject) => http.get(url + '/mocked/' + bytes, (res) => count(res, pause).then(resolve, reject)).on('error', reject)),
  'fetch up': async (bytes) => Number(await (await fetch(url + '/up', { method: 'POST', body: Readable.toWeb(Readable.from(pieces(bytes))), duplex: 'half' })).text()),
  'http up': (bytes) => new Promise((resolve, reject) => {
    const req = http.request(url + '/up', { method: 'POST' }, async (res) => resolve(Number(Buffer.concat(await res.toArray()))))
    Readable.from(pieces(bytes)).pipe(req.on('error', reject))
  })
}
;(async () => {
  const run = runs[process.env.RUN]
  const figures = []
  for (const bytes of process.env.BYTES.split(',').map(Number)) {
    most = 0
    const moved = await run(bytes)
    if (moved !== bytes) throw new Error(moved + ' of ' + bytes + ' bytes')
    figures.push(Math.round(most / MIB))
  }
  console.log(JSON.stringify(figures))
})()
`;

/** The most memory a process had so far; bytes. */
const peak = (pid) => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;

describe("large bodies", () => {
  let proxy, worker, server, url;
  before(async () => {
    proxy = await startProxy("--history-bytes", String(32 * MIB));
    worker = await startWorker(proxy.url, STREAM_FEATURES);
    await mockStreams(worker, "/mocked/*", (stream, path) => pourPieces(stream, Number(path.split("/").at(-1))));
    server = http.createServer(async (req, res) => {
      const { pathname, search } = new URL(req.url, "http://x");
      if (pathname === "/down") return pour(res, Number(search.slice(1)));
      let size = 0;
      for await (const chunk of req) size += chunk.length;
      return res.end(String(size));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${server.address().port}`;
  });
  after(async () => {
    worker.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await proxy.stop();
  });

  for (const run of ["fetch down", "http down", "fetch mocked", "http mocked", "fetch up", "http up"]) {
    test(`500 MB by ${run}: neither the application nor the proxy grows`, { timeout: 120000 }, async (t) => {
      const env = { UPSTREAM: url, RUN: run, TRAFFICMOCK_PROXY_URL: proxy.url, TRAFFICMOCK_CLIENT_ID: run };
      const runOnce = (...bytes) =>
        runNode(APP, { env: { ...env, BYTES: bytes.join() }, preload: REQUIRE, ms: 100000 });
      const warm = await runOnce(WARM_UP, WARM_UP);
      assert.equal(warm.status, 0, warm.stderr);
      const before = peak(proxy.process.pid);
      const { stdout, stderr, status } = await runOnce(WARM_UP, WARM_UP, BYTES);
      assert.equal(status, 0, stderr);
      const [, usual, large] = JSON.parse(stdout);
      const grown = peak(proxy.process.pid) - before;
      t.diagnostic(
        `${run}: application ${usual} MiB at 100 MiB, ${large} MiB at 500 MiB; proxy at most ${Math.round((before + grown) / MIB)} MiB, ${Math.round(grown / MIB)} MiB more than before`,
      );
      assert.ok((large - usual) * MIB < SLACK, `the application: ${large - usual} MiB more`);
      assert.ok(grown < SLACK, `the proxy: ${Math.round(grown / MIB)} MiB more`);
      const { request, outcome } = await until(
        proxy,
        "/api/history?limit=1",
        ({ entries: [entry] }) => entry.outcome.response && !entry.outcome.response.bodyPending && entry,
      );
      const body = run.endsWith("up") ? request : outcome.response;
      assert.deepEqual([body.truncated, body.bodySize], [true, BYTES]);
    });
  }
});

/** The same, by a test: the window that the protocol allows is in use all the time. */
async function pourPieces(stream, bytes) {
  const piece = Buffer.alloc(MIB / 4, "b");
  for (; bytes > 0; bytes -= piece.length) {
    const seq = await stream.write(piece);
    if (seq >= 4) await stream.acknowledged(seq - 3);
  }
  await stream.end();
}

/** As many bytes as wanted, as fast as they are read. */
function pour(res, bytes) {
  const piece = Buffer.alloc(64 * 1024, "b");
  const go = () => {
    for (; bytes > 0; bytes -= piece.length) {
      if (!res.write(piece)) {
        return void res.once("drain", () => {
          bytes -= piece.length;
          go();
        });
      }
    }
    res.end();
  };
  go();
}
