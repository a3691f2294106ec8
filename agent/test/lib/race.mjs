import assert from "node:assert/strict";
import http from "node:http";
import net from "node:net";
import { randomUUID } from "node:crypto";
import { startNode, REQUIRE } from "./child.mjs";
import { startProxy, startService } from "./proxy.mjs";
import { startWorker } from "./worker.mjs";

/** The proxy with the acknowledgement taken out: registrations are answered at once. */
const WITHOUT_ACKNOWLEDGEMENT = `
from trafficmock.core.local.local_decisions import LocalDecisions
from trafficmock.cli import main
LocalDecisions._hold = lambda self, worker, n, out, release, *_, **__: release(out)
main()
`;

/** An application that asks for the current path all the time, and blocks its event loop in between. */
const APP = `
let path = "/0/";
process.on("message", (message) => { path = message.path; });
const cell = new Int32Array(new SharedArrayBuffer(4));
async function ask() {
  for (;;) {
    const asked = path;
    const at = String(process.hrtime.bigint());
    const got = await fetch(process.env.UPSTREAM + asked + "x").then((answer) => answer.text(), () => "error");
    process.send({ asked, at, got });
    if (Math.random() < 0.3) Atomics.wait(cell, 0, 0, Math.random() * 50);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
  }
}
for (let n = 0; n < 3; n += 1) void ask();
process.send({ ready: true });
`;

/**
 * A way to the proxy whose connections can be cut on one side, so that the other notices later.
 * @param {string} proxyUrl
 */
async function startLossyRelay(proxyUrl) {
  const pairs = new Set();
  const server = net.createServer((near) => {
    const far = net.connect(Number(new URL(proxyUrl).port), "127.0.0.1");
    const pair = { near, far };
    pairs.add(pair);
    near.on("data", (data) => far.write(data)).on("error", () => {});
    far.on("data", (data) => near.write(data)).on("error", () => {});
    const end = (/** @type {net.Socket} */ other) => () => {
      // A silent connection to the one that has not noticed, for longer than a lease.
      setTimeout(() => other.destroy(), 1300);
      pairs.delete(pair);
    };
    near.on("close", end(far));
    far.on("close", end(near));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** @param {"near" | "far"} side near is the agent's */
    cut(side) {
      for (const pair of pairs) pair[side].destroy();
    },
    stop() {
      for (const { near, far } of pairs) [near, far].forEach((socket) => socket.destroy());
      server.close();
    },
  };
}

/**
 * Register routes while an application asks for what they match.
 * @param {{ routes: number, disturb?: (n: number, tools: { cut(side: "near" | "far"): void, signal(name: string): void }) => void, isAcknowledged?: boolean, isOver?: (leaked: number) => boolean }} options
 * @returns {Promise<{ after: number, leaked: number, answers: Record<string, number>, waits: number[] }>} how many requests began after their route
 *   was acknowledged, and how many of them went upstream all the same
 */
export async function race({ routes, disturb = () => {}, isAcknowledged = true, isOver = () => false }) {
  const proxy = isAcknowledged
    ? await startProxy("--local", "on")
    : await startService(["-c", WITHOUT_ACKNOWLEDGEMENT], "--local", "on");
  const upstream = http.createServer((_, response) => response.end("real")).listen(0, "127.0.0.1");
  await new Promise((resolve) => upstream.once("listening", resolve));
  const relay = await startLossyRelay(proxy.url);
  const worker = await startWorker(proxy.url, { features: ["subscribe"] });
  const app = await startNode(APP, {
    NODE_OPTIONS: REQUIRE,
    TRAFFICMOCK_PROXY_URL: relay.url,
    UPSTREAM: `http://127.0.0.1:${upstream.address().port}`,
  });
  const acknowledged = new Map();
  const waits = [];
  const answers = {};
  let after = 0;
  let leaked = 0;
  /** @returns {Promise<boolean>} whether the next request of the application began after its route was acknowledged */
  const next = async () => {
    const { asked, at, got } = await app.next();
    if (asked === undefined) return false;
    answers[got] = (answers[got] ?? 0) + 1;
    const since = acknowledged.get(asked);
    const isAfter = since !== undefined && BigInt(at) > since;
    if (isAfter) after += 1;
    if (isAfter && got === "real") leaked += 1;
    return isAfter;
  };
  try {
    for (let n = 1; n <= routes && !isOver(leaked); n += 1) {
      const path = `/${n}/`;
      app.send({ path });
      while (!(await app.next()).asked?.startsWith(path));
      disturb(n, { cut: relay.cut, signal: app.signal });
      const routeId = randomUUID();
      worker.routes.set(routeId, {
        kind: "http",
        test: (url) => url.includes(path),
        handler: (route) => route.text("mocked"),
      });
      const begun = performance.now();
      worker.send({
        type: "route:register",
        routeId,
        testId: worker.testId,
        kind: "http",
        matcher: { urlGlob: `**${path}*` },
      });
      await worker.waitFor("route:registered", (message) => message.routeId === routeId);
      acknowledged.set(path, process.hrtime.bigint());
      waits.push(performance.now() - begun);
      for (let seen = 0; seen < 4;) if (await next()) seen += 1;
      worker.send({ type: "route:unregister", routeId });
      await worker.waitFor("route:unregistered", (message) => message.routeId === routeId);
      acknowledged.delete(path);
      worker.seen.length = 0;
    }
  } finally {
    await app.stop("SIGKILL");
    worker.close();
    relay.stop();
    upstream.closeAllConnections();
    upstream.close();
    await proxy.stop();
  }
  assert.notEqual(after, 0, "requests began after their routes were acknowledged");
  return { after, leaked, answers, waits };
}
