import assert from "node:assert/strict";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { REQUIRE, startNode } from "../lib/child.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

const IDS = { A: "a".repeat(32), B: "b".repeat(32), C: "c".repeat(32) };
const AMBIGUOUS = "ERR_TRAFFICMOCK_AMBIGUOUS_ROUTE";
/** Who asks, and what each is to get. */
const EXPECTED = { A: "A", none: AMBIGUOUS, B: "B", C: "C" };
const APP = new URL("../apps/ways.cjs", import.meta.url);

const CARRIED = {
  baggage: (id) => ({ baggage: `x=1, trafficmock.test=${id};p=1` }),
  cookie: (id) => ({ cookie: `a=1; trafficmock_test=${id}` }),
  traceparent: (id) => ({ traceparent: `00-${id}-00f067aa0ba902b7-01` }),
};

describe("a request belongs to the test whose context led to it", () => {
  let proxy, workers, app, port, ways, later;
  before(async () => {
    proxy = await startProxy();
    workers = await Promise.all(Object.values(IDS).map((context) => startWorker(proxy.url, { context })));
    await Promise.all(
      Object.keys(IDS).map((name, at) => workers[at].route("api.shop.test/price", (route) => route.text(name))),
    );
    app = await start({});
    ({ port, ways, later } = await app.next());
  });
  after(async () => {
    await app?.stop();
    for (const worker of workers) worker.close();
    await proxy.stop();
  });

  const start = (env) =>
    startNode(`require(${JSON.stringify(APP.pathname)})`, {
      TRAFFICMOCK_PROXY_URL: proxy.url,
      TRAFFICMOCK_CLIENT_ID: "shop",
      NODE_OPTIONS: REQUIRE,
      ...env,
    });

  /** @returns {Promise<string>} what the application answers to a request that carries a context, in two pieces */
  function get(path, headers = {}, at = port) {
    return new Promise((resolve, reject) => {
      const req = http.request({ host: "127.0.0.1", port: at, path: encodeURI(path), method: "POST", headers });
      req.setHeader("content-type", "application/json");
      req.on("error", reject).on("response", async (response) => {
        resolve((await response.toArray()).map(String).join(""));
      });
      req.write('{"some":');
      setImmediate(() => req.end('"body"}'));
    });
  }

  /** Ask at once under each context, and without one. */
  async function answers(path, carried = CARRIED.baggage, more = (name) => ({ "x-key": name })) {
    const names = Object.keys(EXPECTED);
    const said = await Promise.all(
      names.map((name) => get(path(name), { ...more(name), ...(IDS[name] && carried(IDS[name])) })),
    );
    return Object.fromEntries(names.map((name, at) => [name, said[at]]));
  }

  test("in each of the ways that lead from a request to another", async () => {
    assert.ok(ways.length > 30);
    const wrong = {};
    for (const way of ways) {
      const said = await answers(() => `/${way}`);
      const expected = way === "two at once" ? { A: "A,A", none: AMBIGUOUS, B: "B,B", C: "C,C" } : EXPECTED;
      if (JSON.stringify(said) !== JSON.stringify(expected)) wrong[way] = said;
    }
    assert.deepEqual(wrong, {});
  });

  test("after its response", async () => {
    for (const way of later) {
      await answers(() => `/${way}`);
      assert.deepEqual(await answers((name) => `/later/${way}/${name}`), EXPECTED, way);
    }
  });

  test("in the messages of a WebSocket that came in", async () => {
    const said = (headers) =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers });
        socket.on("open", () => socket.send("ask")).on("error", reject);
        socket.on("message", (data) => {
          resolve(String(data));
          socket.close();
        });
      });
    const names = Object.keys(EXPECTED);
    const all = await Promise.all(names.map((name) => said(IDS[name] && CARRIED.baggage(IDS[name]))));
    assert.deepEqual(all, Object.values(EXPECTED));
  });

  for (const [name, carried] of Object.entries(CARRIED)) {
    test(`by its ${name}`, async () => {
      assert.deepEqual(await answers(() => "/fetch", carried), EXPECTED);
    });
  }

  test("by its baggage first, then its cookie; what is malformed counts for nothing", async () => {
    const both = { ...CARRIED.cookie(IDS.B), ...CARRIED.traceparent(IDS.C) };
    assert.equal(await get("/fetch", { ...both, ...CARRIED.baggage(IDS.A) }), "A");
    assert.equal(await get("/fetch", both), "B");
    for (const value of ["", "a b", "x".repeat(65), "é"]) {
      assert.equal(
        await get("/fetch", { baggage: Buffer.from(`trafficmock.test=${value}`).toString("latin1") }),
        AMBIGUOUS,
      );
    }
  });

  test("not where a variable turns it off, nor long after the request that brought it", async () => {
    const off = await start({ TRAFFICMOCK_CONTEXT: "0" });
    const { port: at } = await off.next();
    assert.equal(await get("/fetch", CARRIED.baggage(IDS.A), at), AMBIGUOUS);
    await off.stop();
    const short = await start({ TRAFFICMOCK_CONTEXT_MS: "0" });
    const { port: shortPort } = await short.next();
    assert.equal(await get("/fetch", CARRIED.baggage(IDS.A), shortPort), "A");
    await get("/after the response", { "x-key": "A", ...CARRIED.baggage(IDS.A) }, shortPort);
    assert.equal(await get("/later/after the response/A", {}, shortPort), AMBIGUOUS);
    await short.stop();
  });

  test("a variable with another value is refused by name", async () => {
    const { readSettings } = await import("../../src/settings.js");
    assert.throws(
      () => readSettings({}, { TRAFFICMOCK_CONTEXT: "off" }),
      /TRAFFICMOCK_CONTEXT must be 0 or 1, not "off"/,
    );
    assert.throws(() => readSettings({}, { TRAFFICMOCK_CONTEXT_MS: "1s" }), /TRAFFICMOCK_CONTEXT_MS must be a number/);
  });

  test("an id that no test has leaves the request as it is without one", async () => {
    assert.equal(await get("/fetch", CARRIED.baggage("0".repeat(32))), AMBIGUOUS);
  });
});
