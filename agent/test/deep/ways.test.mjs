import assert from "node:assert/strict";
import http from "node:http";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";
import { REQUIRE, startNode } from "../lib/child.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

const TRACER = `--require ${createRequire(import.meta.url).resolve("@opentelemetry/auto-instrumentations-node/register")}`;
const AMBIGUOUS = "ERR_TRAFFICMOCK_AMBIGUOUS_ROUTE";
const IDS = { A: "a".repeat(32), B: "b".repeat(32), C: "c".repeat(32) };
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const BODY = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n';

/**
 * The ways that do not keep a request with its test. *Wrong*: the request has another test's
 * context. *Lost*: it has none. A way that is mended leaves its table; a new one fails.
 */
const NOT_RIGHT = {
  "an event that callbacks of several requests wait for": "wrong",
  "a pool made by hand, full": "lost",
  "a loop that the first request starts": "lost",
  "a buffer that a timer flushes": "wrong",
  "DataLoader of all requests": "lost",
  "redis, subscription by the first request": "lost",
  "ioredis, subscription by the first request": "lost",
  "a client that matches replies with callbacks": "lost",
  "worker thread of a pool": "lost",
  "socket's close": "lost",
};

/** What the doctor says of each request that a lost way has sent for a test. */
const TOLD = {
  "a pool made by hand, full": /from code that had handed over a result of its request before, by fetch at /,
  "a loop that the first request starts": /from code that had handed over a result of its request before, by fetch at /,
  "DataLoader of all requests":
    /from a batch of dataloader, whose items are of several tests, by fetch at .*ways\.cjs:/,
  "redis, subscription by the first request": /from a message of redis, by fetch at /,
  "ioredis, subscription by the first request": /from a message of ioredis, by fetch at /,
  "a client that matches replies with callbacks": /from an event of a connection, by fetch at /,
  "worker thread of a pool": /into the worker thread 1 of .* left from the worker thread 1, by fetch at .*worker\.cjs:/,
  "socket's close": /from an event of a connection, by fetch at /,
};
const CAME =
  /^A context came in (?:last )?at [\d:]+ to POST \/\S+ in process \S+ \d+\. |^No request with a context has come into the worker /;

const PRELOADS = {
  "": REQUIRE,
  ", beside OpenTelemetry": `${TRACER} ${REQUIRE}`,
};

describe("ways through Node and npm packages", () => {
  let proxy, workers;
  before(async () => {
    proxy = await startProxy();
    workers = await Promise.all(Object.values(IDS).map((context) => startWorker(proxy.url, { context })));
    await Promise.all(
      Object.keys(IDS).map((name, at) => workers[at].route("api.shop.test/price", (route) => route.text(name))),
    );
  });
  after(async () => {
    for (const worker of workers) worker.close();
    await proxy.stop();
  });

  for (const [beside, preload] of Object.entries(PRELOADS)) {
    test(`at least 60 are right, and the others are known by name${beside}`, { timeout: 300000 }, async (t) => {
      const app = await startNode(`require(${JSON.stringify(path("../apps/ways.cjs"))})`, {
        TRAFFICMOCK_PROXY_URL: proxy.url,
        MORE_WAYS: path("ways/more-ways.cjs"),
        NODE_OPTIONS: preload,
        OTEL_TRACES_EXPORTER: "none",
        OTEL_METRICS_EXPORTER: "none",
        OTEL_LOGS_EXPORTER: "none",
        OTEL_NODE_RESOURCE_DETECTORS: "none",
        OTEL_NODE_DISABLED_INSTRUMENTATIONS: "dns",
      });
      t.after(() => app.stop("SIGKILL"));
      const { port, ways, later } = await app.next();
      const found = {};
      const known = new Set();
      for (const way of ways) {
        found[way] = result(await answers(port, () => `/${way}`));
        await checkTold(proxy, way, found[way], known);
      }
      for (const way of later) {
        await answers(port, () => `/${way}`);
        found[way] = result(await answers(port, (name) => `/later/${way}/${name}`));
        await checkTold(proxy, way, found[way], known);
      }
      const isRight = ([, one]) => one === "right";
      t.diagnostic(
        JSON.stringify({ all: Object.keys(found).length, right: Object.entries(found).filter(isRight).length }),
      );
      assert.deepEqual(Object.fromEntries(Object.entries(found).filter((one) => !isRight(one))), NOT_RIGHT);
      assert.ok(Object.values(found).filter((one) => one === "right").length >= 60);
    });
  }
});

/** @returns {Promise<Record<string, string>>} what was said to requests at once, under each context and without one */
async function answers(port, pathOf) {
  const names = [...Object.keys(IDS), "none"];
  const said = await Promise.all(names.map((name) => ask(port, pathOf(name), name, names.length)));
  return Object.fromEntries(names.map((name, at) => [name, said[at]]));
}

function ask(port, way, name, count) {
  const headers = {
    "content-type": "multipart/form-data; boundary=x",
    "x-key": name,
    "x-together": String(count),
    connection: "close",
    ...(IDS[name] && { baggage: `trafficmock.test=${IDS[name]}` }),
  };
  return new Promise((resolve, reject) => {
    const req = http.request({ host: "127.0.0.1", port, path: encodeURI(way), method: "POST", headers });
    req.on("error", reject).on("response", async (response) => resolve((await response.toArray()).join("")));
    req.write(BODY.slice(0, 20));
    setImmediate(() => req.end(BODY.slice(20)));
  });
}

/** Check that the doctor names the hop of each request that a lost way has sent. */
async function checkTold(proxy, way, found, known) {
  const { entries } = await proxy.get("/api/history?limit=20");
  const sent = entries.filter(({ id }) => !known.has(id));
  for (const { id } of sent) known.add(id);
  if (found !== "lost") return;
  // The first request of a loop is right.
  const without = sent.filter(({ lost }) => lost);
  assert.ok(without.length > 0, way);
  for (const { lost } of without) {
    assert.match(lost.how, CAME, way);
    assert.match(lost.how, TOLD[way], way);
  }
}

/** @returns {string} whether each got its own answer, or else what went wrong */
function result(said) {
  const right = ([name, text]) => text.split(",").every((one) => one === (name in IDS ? name : AMBIGUOUS));
  const others = Object.entries(said).filter((one) => !right(one));
  if (others.length === 0) return "right";
  if (others.every(([, text]) => text === AMBIGUOUS)) return "lost";
  if (!others.every(([, text]) => text in IDS || text === AMBIGUOUS)) return JSON.stringify(said);
  return "wrong";
}
