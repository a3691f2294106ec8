/* Globs: the proxy reads them, for routes, for waits and for what is filtered here. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { connect } from "trafficmock-playwright/core";
import { startProxy } from "../../agent/test/lib/proxy.mjs";
import { startShop } from "./lib/shop.mjs";

const require = createRequire(import.meta.url);
const { Matcher } = require("../src/arguments/matcher.js");
const { viewsOf } = require("../src/objects/traffic-mock.js");
const { Session } = require("../src/session/session.js");
const { WorkerConnection } = require("../src/connection/worker-connection.js");

const ROWS = new URL("../../tests/data/globs.jsonl", import.meta.url);
const HAR = JSON.stringify({ log: { version: "1.2", creator: { name: "", version: "" }, entries: [] } });

let proxy;
let shop;

before(async () => {
  proxy = await startProxy();
  shop = await startShop(proxy.url);
});

after(async () => {
  await shop.stop();
  await proxy.stop();
});

const begin = (title, baseURL = "http://prices.example/price/") => connect({ title, proxyUrl: proxy.url, baseURL });

test("a bad glob is a usage error of each call, which names it and what is wrong", async () => {
  const mocks = await begin("bad globs");
  const directory = mkdtempSync(join(tmpdir(), "globs-"));
  const file = join(directory, "empty.har");
  writeFileSync(file, HAR);
  const calls = [
    (glob) => mocks.route(glob, () => undefined),
    (glob) => mocks.mock(glob),
    (glob) => mocks.unroute(glob),
    (glob) => mocks.requests(glob),
    (glob) => mocks.requests({ url: glob, matchQuery: { a: "1" } }),
    (glob) => mocks.waitForRequest(glob),
    (glob) => mocks.waitForResponse(glob),
    (glob) => mocks.routeFromHAR(file, { url: glob }),
  ];
  const unclosed = /no '\}' for the '\{' at character 4 of the URL glob '\*\*\/\{a'/;
  for (const call of calls) {
    await assert.rejects(call("**/{a"), { name: "UsageError", message: unclosed, stack: /globs\.test\.mjs/ });
    await assert.rejects(call("https://**"), { name: "UsageError", message: /no path.*: write 'https:\/\/\*\*\/\*'/ });
  }
  await assert.rejects(mocks.strict({ allow: [{ url: "**/{a" }] }), { name: "UsageError", message: unclosed });
  await assert.rejects(
    mocks.routeWebSocket("**/{a", () => undefined),
    { name: "UsageError", message: unclosed },
  );
  await mocks.routeWebSocket("wss://**", () => undefined);
  rmSync(directory, { recursive: true });
  await mocks.end();
});

test("a refused route is none: the test does not fail because no request met it", async () => {
  const mocks = await begin("refused");
  await assert.rejects(mocks.route("**/{a", () => undefined, { required: true }));
  await mocks.end();
});

test("a relative glob is for the base URL, in routes, waits and lists, also beside functions", async () => {
  const mocks = await begin("relative");
  await mocks.mock("../price/*", { json: { price: 3 } });
  await mocks.route({ url: "can", matchHeaders: { accept: () => true } }, (route) =>
    route.fulfill({ json: { price: 4 } }),
  );
  const wait = mocks.waitForRequest({ url: "./cup", matchHeaders: { accept: () => true } });
  for (const [name, price] of Object.entries({ cup: 3, can: 4 })) {
    const page = await fetch(`${shop.url}/price/${name}`, { headers: mocks.headers });
    assert.match(await page.text(), new RegExp(`"price">${price}<`));
  }
  assert.equal((await wait).url(), "http://prices.example/price/cup");
  assert.equal((await mocks.requests("c?p")).length, 0);
  assert.equal((await mocks.requests("c*p")).length, 1);
  assert.equal(
    (await mocks.requests({ url: "*", matchHeaders: { accept: () => true } })).length,
    0,
    "within a segment",
  );
  assert.equal((await mocks.requests("./{cup,can}")).length, 2);
  await mocks.end();
});

test("a relative glob without a base URL matches nothing", async () => {
  const mocks = await begin("no base", "");
  await mocks.mock("**/price/*", { json: { price: 5 } });
  await mocks.mock("price/*", { json: { price: 6 } });
  const page = await fetch(`${shop.url}/price/cup`, { headers: mocks.headers });
  assert.match(await page.text(), /"price">5</);
  assert.deepEqual(await mocks.requests("price/*"), []);
  await mocks.end();
});

test("a test that is asked about a WebSocket has its glob read first, once", async () => {
  const sent = [];
  const queries = [];
  const query = async (message) => {
    queries.push(message);
    return { source: "^ws:.*/a$" };
  };
  const session = new Session({ send: (message) => sent.push(message), query }, { title: "", file: "" }, viewsOf);
  const matcher = new Matcher("a", { baseURL: "http://h.test/", webSocket: true });
  session.sockets.entries.push({ id: "r", matcher });
  for (const name of ["a", "b"]) {
    session.sockets.claimed({ socketId: name, url: `ws://h.test/${name}`, routeIds: ["r"] });
    await setImmediate();
  }
  assert.deepEqual(queries, [{ type: "glob:query", glob: "a", baseUrl: "http://h.test/", kind: "websocket" }]);
  assert.deepEqual(
    sent.map(({ socketId, matches }) => [socketId, matches]),
    [
      ["a", [{ routeId: "r" }]],
      ["b", []],
    ],
  );
});

test("globs match here as they do for the proxy", async () => {
  const rows = readFileSync(ROWS, "utf8").trim().split("\n").map(JSON.parse);
  const connection = await WorkerConnection.open({ proxyUrl: proxy.url });
  connection.hold();
  for (let at = 0; at < rows.length; at += 500) {
    const some = rows.slice(at, at + 500);
    await Promise.all(
      some.map(async ({ glob, url, base, websocket, matches }) => {
        const matcher = new Matcher(glob, { baseURL: base ?? undefined, webSocket: websocket });
        const error = await matcher.read(connection).catch((error_) => error_);
        const result = error ? "error" : matcher.matchesUrl(url);
        // Only the proxy's routes for npm workers have globs that end within the host.
        if (!/has no path/.test(error?.message)) assert.equal(result, matches, `${glob} ${url} ${base}`);
      }),
    );
  }
  connection.release();
  connection.close();
});
