import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import { isInstalled, startRedis } from "../lib/brokers.mjs";
import { REQUIRE, startFile } from "../lib/child.mjs";
import { Owners } from "../lib/owners.mjs";
import { startProxy } from "../lib/proxy.mjs";

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const PAGE = readFileSync(pathOf("../../../docs/explanation/background-work.md"), "utf8");
const NAMES = [..."ABCDEF12"];
const NOBODY = "nobody";
const EVERYONE = "everyone";
/** Requests at once for each test, and for nobody. */
const EACH = 2;
const SECONDS = 30;
const HOST = "api.shop.test";
/** The modules of `kinds`, but for those that need a context that counts for a short time. */
const ALL = ["timers", "clients", "limits", "messages", "queues", "jobs", "promises"];
const CONTEXT_MS = 500;

/** How many requests a kind sends, where it is not one for each inbound request. */
const COUNTS = {
  "a memoised promise": 1,
  "setInterval of the application": 5,
  "node-cron of the application": 5,
  "a poller by setTimeout, of the application": 5,
  "setInterval of the first request": 5,
  "node-cron of the first request": 5,
  "a poller by setTimeout, of the first request": 5,
  "an event stream that is held open": 3 * EACH * (NAMES.length + 1),
};
/** A WebSocket is not a path of the application. */
const MESSAGE = "a message of a WebSocket, long after its upgrade";

const skip = !isInstalled("redis-server") && "redis-server is not installed";

describe("work in the background", { skip }, () => {
  let redis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis?.stop());

  const start = async (t, proxy, kinds, env = {}) => {
    const app = await startFile(pathOf("kinds/app.cjs"), {
      TRAFFICMOCK_PROXY_URL: proxy.url,
      NODE_OPTIONS: REQUIRE,
      REDIS_PORT: String(redis.port),
      KINDS: kinds.join(" "),
      ...env,
    });
    t.after(() => app.stop("SIGKILL"));
    return app.next();
  };

  const together = { TOGETHER: String(EACH * (NAMES.length + 1)) };

  test("is its test's or nobody's, as the page says, and the doctor knows why", { timeout: 240000 }, async (t) => {
    const [proxy, owners] = await running(t, NAMES);
    const app = await start(t, proxy, ALL, together);
    const found = await whoseAre(proxy, owners, app);
    const streams = await start(t, proxy, ["streams"], { ...together, TRAFFICMOCK_CONTEXT_MS: String(CONTEXT_MS) });
    Object.assign(found, await whoseAre(proxy, owners, streams));
    await Promise.all(callers(owners).map(({ who, headers }) => message(streams.port, who, headers)));
    found[MESSAGE] = await whoseWere(proxy, owners, MESSAGE);
    const kinds = rows(PAGE, "In Node");
    const said = Object.fromEntries(kinds.map(([kind, whose]) => [kind, whose]));
    assert.deepEqual(Object.fromEntries(Object.entries(found).map(([kind, { whose }]) => [kind, whose])), said);
    for (const [kind, whose, told] of kinds) {
      if (!whose.endsWith("nobody's")) continue;
      assert.ok(found[kind].told.length > 0, kind);
      for (const text of found[kind].told) assert.ok(text.includes(`This one left ${told}`), `${kind}: ${text}`);
    }
    const counts = (whose) => Object.values(found).filter((one) => one.whose === whose).length;
    t.diagnostic(JSON.stringify({ right: counts("right"), nobodys: counts("nobody's"), wrong: counts("wrong") }));
  });

  test("is nobody's where the agent reads no contexts, so this can fail", { timeout: 60000 }, async (t) => {
    const [proxy, owners] = await running(t, NAMES);
    const app = await start(t, proxy, ["clients", "queues"], { ...together, TRAFFICMOCK_CONTEXT: "0" });
    const found = await whoseAre(proxy, owners, app);
    assert.deepEqual(new Set(Object.values(found).map(({ whose }) => whose)), new Set(["nobody's"]));
  });

  test("is late and nobody's once its test has ended", { timeout: 60000 }, async (t) => {
    const [proxy, owners] = await running(t, ["A", "B", "C"]);
    const app = await start(t, proxy, ["timers"]);
    const kind = "setTimeout, 0.3 s after the response";
    await get(app.port, `/${encodeURIComponent(kind)}/C`, owners.headers("C"));
    owners.workers[2].close();
    const [{ testId, late, outcome }] = await entriesOf(proxy, kind, 1);
    assert.deepEqual([owners.nameOf(testId), late, outcome.code], ["C", true, "ambiguous_route"]);
  });

  test("is the running test's where one runs after the other", { timeout: 60000 }, async (t) => {
    const proxy = await startProxy();
    t.after(() => proxy.stop());
    const app = await start(t, proxy, ["messages", "queues"]);
    for (const [at, name] of ["A", "B", "C"].entries()) {
      const owners = await Owners.start(proxy, [name], HOST);
      for (const kind of app.kinds) {
        await get(app.port, `/${encodeURIComponent(kind)}/${name}`, owners.headers(name));
        const entries = await entriesOf(proxy, kind, at + 1);
        assert.equal(owners.nameOf(entries.at(-1).outcome.testId), name, kind);
      }
      owners.close();
    }
  });
});

/** @returns {Promise<[any, Owners]>} a proxy, and tests that mock the third party */
async function running(t, names) {
  const proxy = await startProxy("--history-limit=5000");
  const owners = await Owners.start(proxy, names, HOST);
  t.after(async () => {
    owners.close();
    await proxy.stop();
  });
  return [proxy, owners];
}

/** @returns {Promise<Record<string, { whose: string, told: string[] }>>} of each kind of an application */
async function whoseAre(proxy, owners, { port, kinds }) {
  const found = {};
  for (const kind of kinds) {
    await askAll(port, kind, owners);
    found[kind] = await whoseWere(proxy, owners, kind);
  }
  return found;
}

/** Whoever sends requests: each test, and nobody, several times. */
const callers = (owners) =>
  [...NAMES, NOBODY].flatMap((who) =>
    Array.from({ length: EACH }, () => ({ who, headers: who === NOBODY ? {} : owners.headers(who) })),
  );

function askAll(port, kind, owners) {
  return Promise.all(
    callers(owners).map(async ({ who, headers }, at) => {
      const key = String(at).padStart(3, "0");
      const url = `/${encodeURIComponent(kind)}/${who}`;
      const { status, text } = await get(port, url, { ...headers, "x-key": key });
      assert.equal(status, 200, `${kind}: ${text}`);
    }),
  );
}

function get(port, path, headers) {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, headers: { ...headers, connection: "close" } };
    http
      .get(options, async (response) => {
        resolve({ status: response.statusCode, text: (await response.toArray()).join("") });
      })
      .on("error", reject);
  });
}

/** Open a WebSocket, and send a message when the context of the upgrade would be over. */
async function message(port, who, headers) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/${encodeURIComponent(MESSAGE)}/${who}`, { headers });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  await new Promise((resolve) => setTimeout(resolve, 3 * CONTEXT_MS));
  socket.send("now");
}

/** Wait for so many requests of a kind. @returns {Promise<any[]>} their entries in the history, the oldest first */
async function entriesOf(proxy, kind, count) {
  for (const end = Date.now() + 1000 * SECONDS; ;) {
    const listed = await proxy.get("/api/history?limit=1000");
    const entries = listed.entries.filter(({ request, action }) => kindOf(request) === kind && action !== "pending");
    if (entries.length >= count) {
      assert.equal(entries.length, count, kind);
      return entries.sort((a, b) => a.timestamp - b.timestamp);
    }
    assert.ok(Date.now() < end, `${kind}: ${entries.length} requests instead of ${count}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** @returns {Promise<{ whose: string, told: string[] }>} by the history, with what the doctor says of those that are nobody's */
async function whoseWere(proxy, owners, kind) {
  const entries = await entriesOf(proxy, kind, COUNTS[kind] ?? EACH * (NAMES.length + 1));
  const told = new Set();
  let [nobodys, wrong] = [0, 0];
  for (const [at, { request, testId, lost }] of entries.entries()) {
    const who = new URL(request.url).searchParams.get("who");
    const owner = owners.nameOf(testId) ?? NOBODY;
    if (owner === NOBODY && who !== NOBODY) {
      nobodys += 1;
      told.add(lost?.how ?? "nothing");
    }
    // The first tick of what works for everyone is like any timer of the request.
    else if (owner !== who && !(who === EVERYONE && at === 0)) wrong += 1;
  }
  return { whose: wrong > 0 ? "wrong" : nobodys > 0 ? "nobody's" : "right", told: [...told] };
}

const kindOf = ({ url }) => decodeURIComponent(new URL(url).pathname.slice(1));

/** @returns {string[][]} the rows of the table whose first column has this head, without their backticks */
function rows(page, head) {
  const [, ...after] = page.split(`\n| ${head} |`);
  assert.equal(after.length, 1, head);
  const lines = after[0].split("\n").slice(2);
  return lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith("|")),
    )
    .map((line) =>
      line
        .replaceAll("`", "")
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
