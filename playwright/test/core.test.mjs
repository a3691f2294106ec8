/* Tests without Playwright: Node's own runner, with the real proxy and a real application. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer, get } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { connect } from "trafficmock-playwright/core";
import { startProxy } from "../../agent/test/lib/proxy.mjs";
import { freePort } from "./lib/project.mjs";
import { startShop } from "./lib/shop.mjs";

const require = createRequire(import.meta.url);
const { Questions } = require("../src/connection/questions.js");
const { WorkerConnection } = require("../src/connection/worker-connection.js");
const { viewsOf } = require("../src/objects/traffic-mock.js");
const { Session } = require("../src/session/session.js");

describe("connect", () => {
  let proxy;
  let shop;
  let shopUrl;

  before(async () => {
    proxy = await startProxy();
    shop = await startShop(proxy.url);
    shopUrl = shop.url;
  });

  after(async () => {
    await shop.stop();
    await proxy.stop();
  });

  const begin = (title) => connect({ title, proxyUrl: proxy.url, baseURL: shopUrl });

  test("tests at the same time each decide what they cause", async () => {
    const [one, other] = await Promise.all([begin("one"), begin("other")]);
    const { runnerWorkers } = await proxy.get("/api/connections");
    assert.equal(runnerWorkers.length, 1, "they share one connection");
    await one.route("**/price/*", (route) => route.fulfill({ json: { price: 1 } }));
    await other.route("**/price/*", (route) => route.fulfill({ json: { price: 2 } }));
    const pages = await Promise.all([one, other].map(({ headers }) => fetch(`${shopUrl}/price/cup`, { headers })));
    const [first, second] = await Promise.all(pages.map((page) => page.text()));
    assert.match(first, /"price">1</);
    assert.match(second, /"price">2</);
    await Promise.all([one.end(), other.end()]);
  });

  test("a request with the context of a test that does not mock it is named in both, and fails one that requires it", async (t) => {
    const warn = t.mock.method(console, "warn", () => {});
    const options = { proxyUrl: proxy.url, baseURL: shopUrl };
    const first = await connect({ ...options, title: "first", strict: true });
    const other = await connect({ ...options, title: "other" });
    const required = { headers: first.headers };
    await other.mock("**/price/*", { json: { price: 2 } });
    await (await fetch(`${shopUrl}/price/cup`, required)).text();
    await other.end();
    const [said] = warn.mock.calls.map(({ arguments: [text] }) => text);
    assert.match(said, /^trafficmock, other: GET http:\S+\/price\/cup of the application .*only the test "other"/);
    const third = await connect({ ...options, title: "third", isolation: "required" });
    await third.mock("**/price/*", { json: { price: 3 } });
    const passing = await connect({ ...options, title: "passing" });
    await (await fetch(`${shopUrl}/price/cup`, { headers: passing.headers })).text();
    await passing.end();
    await assert.rejects(third.end(), (error) => {
      assert.equal(error.name, "MixedContextError");
      // The process has been asked meanwhile where its requests come from.
      assert.match(
        error.message,
        /context of the test "passing" .*only the test "third".* This one left from .* at \S+:\d+/,
      );
      return true;
    });
    await assert.rejects(first.end(), /strict mode/);
  });

  test("what a handler throws is thrown at the end", async () => {
    const mocks = await begin("throws");
    await mocks.route("**/price/*", () => Promise.reject(new Error("no price today")));
    await fetch(`${shopUrl}/price/cup`, { headers: mocks.headers });
    await assert.rejects(mocks.end(), /no price today\nin the handler \(.*core\.test\.mjs:\d+\)/);
  });

  test("a recording says which requests the real server did not answer", async (t) => {
    const warn = t.mock.method(console, "warn", () => {});
    const directory = mkdtempSync(join(tmpdir(), "trafficmock-har-"));
    t.after(() => rmSync(directory, { recursive: true }));
    const mocks = await begin("records");
    await mocks.routeFromHAR(join(directory, "prices.har"), { url: "**/price/*", update: true });
    await (await fetch(`${shopUrl}/price/cup?key=hush`, { headers: mocks.headers })).text();
    await mocks.end();
    const [said] = warn.mock.calls.map(({ arguments: [text] }) => text);
    assert.match(said, /prices\.har was recorded, .*status -1 for:\n {2}GET http:\/\/prices\.example\/price\/cup: \S+/);
  });

  test("fixed answers and a HAR's are given while the test stands at a breakpoint", async (t) => {
    const mocks = await begin("stands");
    const directory = mkdtempSync(join(tmpdir(), "trafficmock-har-"));
    t.after(() => rmSync(directory, { recursive: true }));
    const response = { status: 200, statusText: "", headers: [], content: { text: '{"price":7}' } };
    const request = { method: "GET", url: "http://prices.example/price/pan", headers: [] };
    writeFileSync(join(directory, "prices.har"), JSON.stringify({ log: { entries: [{ request, response }] } }));
    await mocks.routeFromHAR(join(directory, "prices.har"), { url: "**/price/*" });
    await mocks.mock("**/price/cup", { json: { price: 6 } });
    const pages = ["cup", "pan"].map((name) => `${shopUrl}/price/${name}`);
    const script = `for (const url of ${JSON.stringify(pages)})
      console.log(await (await fetch(url, { headers: ${JSON.stringify(mocks.headers)} })).text())`;
    // Nothing of this process runs until the other one has its answers.
    const seen = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
      timeout: 4000,
    }).toString();
    assert.match(seen, /"price">6<.*\n.*"price">7</);
    const answered = await mocks.requests("**/price/*");
    const bodies = await Promise.all(answered.map(async (each) => (await (await each.response()).json()).price));
    assert.deepEqual(bodies, [6, 7]);
    await mocks.end();
  });

  test("a wait says what came instead", async () => {
    const mocks = await begin("waits");
    await mocks.route("**/price/*", (route) => route.fulfill({ json: { price: 1 } }));
    await fetch(`${shopUrl}/price/cup`, { headers: mocks.headers });
    await mocks.requests();
    const wait = mocks.waitForResponse("http://prices.example/price/can", { timeout: 100 });
    await assert.rejects(wait, /Timeout 100ms.*\n.*nearest first:\n.*price\/cup \(client shop\): path differs/);
    await mocks.end();
  });

  test("a wait may fail before it is awaited; one that nobody awaits fails the test", async () => {
    const warnings = [];
    const warned = (warning) => warnings.push(warning.name);
    process.on("warning", warned);
    const [awaited, forgotten] = await Promise.all([begin("awaits"), begin("forgets")]);
    const wait = awaited.waitForRequest("**/never", { timeout: 20 });
    void forgotten.waitForResponse("**/never", { timeout: 20 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await assert.rejects(wait, /Timeout 20ms exceeded while waiting for request/);
    await awaited.end();
    await assert.rejects(forgotten.end(), /Timeout 20ms exceeded while waiting for response/);
    process.off("warning", warned);
    assert.deepEqual(warnings, []);
  });

  test("a wait names the part that differs as routes read globs", async () => {
    const mocks = await begin("parts");
    await mocks.route("**/price/*", (route) => route.fulfill({ json: { price: 1 } }));
    const wait = mocks.waitForRequest(/never/, { timeout: 2000 });
    await fetch(`${shopUrl}/price/cup`, { headers: mocks.headers });
    await Promise.all([
      assert.rejects(wait, /price\/cup \(client shop\): the pattern does not match/),
      ...[
        ["http://{prices,www}.example/prices/cup", "path differs ('/price/cup', not '/prices/cup')"],
        ["http://PRICES.example:80/prices/*", "path differs ('/price/cup', not '/prices/*')"],
        ["http://{a,b}.example/price/cup", "host differs ('prices.example', not '{a,b}.example')"],
        ["**/price/cup?x=1", "query differs ('', not '?x=1')"],
        ["**/price/cup", "came before the wait began: begin it before the act"],
        [() => false, "came before the wait began: begin it before the act"],
      ].map(async ([wanted, text]) => {
        const error = await mocks.waitForRequest(wanted, { timeout: 100 }).catch((error_) => error_);
        assert.ok(error.message.endsWith(`(client shop): ${text}`), error.message);
      }),
    ]);
    await mocks.end();
  });

  test("a handler that keeps no hold on its route fails the request at once", async () => {
    const mocks = await begin("undecided");
    await mocks.route("**/price/*", function forgets() {});
    const page = await fetch(`${shopUrl}/price/cup`, { headers: mocks.headers });
    assert.equal(await page.text(), "no price: ECONNRESET");
    await assert.rejects(mocks.end(), (error) => {
      assert.match(error.message, /the handler forgets \(.*core\.test\.mjs:\d+\) returned without a decision/);
      assert.match(error.stack, /\n {4}at .*core\.test\.mjs:\d+:\d+$/);
      return true;
    });
  });

  test("calls of a route that nobody awaits decide all the same", async (t) => {
    const place = mkdtempSync(join(tmpdir(), "trafficmock-core-"));
    t.after(() => rmSync(place, { recursive: true }));
    const pipe = join(place, "price.json");
    execFileSync("mkfifo", [pipe]);
    const mocks = await begin("decides later");
    await mocks.route("**/price/*", (route) => void route.fulfill({ path: pipe }));
    const page = fetch(`${shopUrl}/price/cup`, { headers: mocks.headers });
    await mocks.waitForRequest("**/price/cup");
    // Longer than it takes to notice that nobody has the route.
    await new Promise((resolve) => setTimeout(resolve, 400));
    await writeFile(pipe, '{"price":6}');
    assert.match(await (await page).text(), /"price">6</);
    await mocks.end();
  });

  test("a wait says which handler has not decided", async () => {
    const mocks = await begin("undecided");
    const kept = [];
    await mocks.route("**/price/cup", function keeps(route) {
      kept.push(route);
    });
    let go;
    await mocks.route("**/price/pot", async function runs(route) {
      await new Promise((resolve) => (go = resolve));
      await route.fulfill({ json: { price: 7 } });
    });
    const pages = ["cup", "pot"].map((item) => fetch(`${shopUrl}/price/${item}`, { headers: mocks.headers }));
    await Promise.all(["cup", "pot"].map((item) => mocks.waitForRequest(`**/price/${item}`)));
    const wait = mocks.waitForResponse("http://prices.example/price/can", { timeout: 100 });
    await assert.rejects(wait, ({ message }) => {
      assert.match(message, /cup: the handler keeps \(.*core\.test\.mjs:\d+\) returned without a decision/);
      assert.match(message, /pot: the handler runs \(.*core\.test\.mjs:\d+\) has not returned/);
      return true;
    });
    go();
    await assert.rejects(mocks.end(), /ended before the handler \(.*core\.test\.mjs:\d+\) decided about GET/);
    await Promise.all(pages);
  });

  test("a strict test fails if its client called a server that is not attached", async (t) => {
    const other = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
    await once(other, "listening");
    t.after(() => other.close());
    const url = `http://127.0.0.1:${other.address().port}`;
    const clients = {
      fetch: (address, headers) => fetch(address, { headers }),
      "node:http": async (address, headers) => {
        const [response] = await once(get(address, { headers, agent: false }), "response");
        await once(response.resume(), "end");
      },
    };
    for (const [name, call] of Object.entries(clients)) {
      const called = async (address) => {
        const mocks = await connect({ title: name, proxyUrl: proxy.url, strict: true });
        await mocks.mock("**/*", {});
        await call(address, mocks.headers);
        await mocks.end();
      };
      await called(`${shopUrl}/none`);
      await assert.rejects(
        called(`${url}/price`),
        new RegExp(`sent requests to ${url}, but no attached application`),
        name,
      );
    }
  });

  test("strict mode fails the application's call and the test, once for each URL", async () => {
    const mocks = await connect({ title: "strict", proxyUrl: proxy.url, baseURL: shopUrl, strict: true });
    await mocks.route("**/prices/*", () => {});
    const { headers } = mocks;
    for (const item of ["cup", "cup", "can"]) {
      const page = await fetch(`${shopUrl}/price/${item}`, { headers });
      assert.equal(await page.text(), "no price: ERR_TRAFFICMOCK_UNMATCHED_REQUEST");
    }
    // That no handler decides is no decision to continue.
    await mocks.route("**/price/pot", (route) => route.fallback());
    const page = await fetch(`${shopUrl}/price/pot`, { headers });
    assert.equal(await page.text(), "no price: ERR_TRAFFICMOCK_UNMATCHED_REQUEST");
    // Nor is the removal of a handler that has not decided.
    let removed;
    await mocks.route("**/price/pan", () => (removed = mocks.unrouteAll()));
    const left = await fetch(`${shopUrl}/price/pan`, { headers });
    assert.equal(await left.text(), "no price: ERR_TRAFFICMOCK_UNMATCHED_REQUEST");
    await removed;
    await mocks.strict({ allow: ["prices.example"] });
    assert.match(await (await fetch(`${shopUrl}/price/cup`, { headers })).text(), /ENOTFOUND|EAI_AGAIN/);
    await assert.rejects(mocks.strict({ allow: ["not a host"] }), /not a host/);
    await assert.rejects(mocks.end(), (error) => {
      assert.match(
        error.message,
        /GET http:\/\/prices\.example\/price\/cup is not mocked.*\nNearest: .*path differs.*\nAdd a route/,
      );
      assert.match(error.message, /1 more request met the same/);
      assert.match(error.message, /price\/can is not mocked/);
      assert.match(error.message, /price\/pot is not mocked/);
      assert.match(error.message, /price\/pan is not mocked/);
      return true;
    });
  });

  test("a test that requires isolation fails for what its routes get without its context", async () => {
    const mocks = await connect({ title: "isolated", proxyUrl: proxy.url, isolation: "required" });
    await mocks.route("**/price/cup", (route) => route.fulfill({ json: { price: 1 } }));
    await mocks.mock("**/price/can", { json: { price: 2 } });
    await fetch(`${shopUrl}/price/cup`, { headers: mocks.headers });
    assert.equal(mocks.takeErrors().length, 0);
    for (const item of ["cup", "cup", "can"]) await fetch(`${shopUrl}/price/${item}`);
    await assert.rejects(mocks.end(), ({ message }) => {
      assert.match(
        message,
        /GET .*cup of the application "shop" came without the context.*\n1 more request met the same/,
      );
      assert.match(message, /GET .*can of the application "shop" came without the context/);
      return true;
    });
  });

  test("a required route that no request meets fails the test, with the nearest request", async () => {
    const mocks = await connect({ title: "unmet", proxyUrl: proxy.url, baseURL: shopUrl, required: true });
    await mocks.mock("**/price/cup", { json: { price: 1 } });
    await mocks.mock("**/price/can", { json: { price: 2 } });
    await mocks.route("**/price/pot", (route) => route.fulfill({ json: { price: 3 } }));
    await mocks.mock("**/price/pan", { json: { price: 4 }, required: false });
    await mocks.mock("**/price/lid", { json: { price: 5 } });
    await mocks.unroute("**/price/lid");
    await fetch(`${shopUrl}/price/cup`, { headers: mocks.headers });
    await assert.rejects(mocks.end(), ({ name, message }) => {
      assert.equal(name, "UnmetRouteError");
      const [pot, can, ...lines] = message.split("\n");
      assert.match(pot, /^no request met the route "\*\*\/price\/pot": the handler \(test\/core\.test\.mjs:\d+\)$/);
      assert.match(can, /^no request met the route "\*\*\/price\/can": the mock \(test\/core\.test\.mjs:\d+\)$/);
      assert.deepEqual(lines, []);
      return true;
    });
    const met = await begin("met");
    await met.route("**/price/pot", (route) => route.fulfill({ json: { price: 3 } }), { required: true });
    await fetch(`${shopUrl}/price/pot`, { headers: met.headers });
    await met.end();
  });

  test("a process lives as long as its tests, and no longer", async () => {
    const script = `
      import { connect } from ${JSON.stringify(new URL("../core.mjs", import.meta.url).href)};
      const mocks = await connect({ title: "lives", proxyUrl: ${JSON.stringify(proxy.url)} });
      const seen = mocks.waitForRequest("**/price/saucer", { timeout: 0 });
      process.stdout.write("waits");
      await seen;
      await mocks.end();
      process.stdout.write(", ended");`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.on("data", (data) => (said += data));
    await once(child.stdout, "data");
    // It may end before the shop has its answer.
    const closed = once(child, "close");
    await fetch(`${shopUrl}/price/saucer`);
    assert.deepEqual(await closed, [0, null]);
    assert.equal(said, "waits, ended");
  });

  test("a test asks what came since it began", async () => {
    const connection = await WorkerConnection.open({ proxyUrl: proxy.url });
    const session = new Session(connection, { title: "asks", file: "" }, viewsOf);
    await fetch(`${shopUrl}/price/early`);
    await session.start();
    await fetch(`${shopUrl}/price/late`);
    const asked = { unmet: [], routes: {}, decisions: {}, onlyUnmet: false };
    const text = await session.registration.diagnosis(asked);
    assert.deepEqual(text.match(/GET \S+/g), ["GET http://prices.example/price/late,"]);
    await session.finish();
    connection.close();
  });

  test("takeErrors has what the proxy had sent when requests() was called", async () => {
    const mocks = await connect({ title: "takes", proxyUrl: proxy.url, strict: true });
    const { headers } = mocks;
    for (let times = 1; times <= 2; times += 1) {
      execFileSync(process.execPath, [
        "--eval",
        `fetch("${shopUrl}/price/take-${times}", { headers: ${JSON.stringify(headers)} })`,
      ]);
      // The application has its answer, and nothing of this thread has run since.
      assert.equal(mocks.takeErrors().length, 0);
      await mocks.requests();
      assert.equal(mocks.takeErrors().length, 1);
    }
    await mocks.end();
  });

  test("no error has the secrets of a URL", async (t) => {
    process.env.TRAFFICMOCK_REPORT_REDACT = "query:shop";
    t.after(() => delete process.env.TRAFFICMOCK_REPORT_REDACT);
    const { hostname, port } = new URL(proxy.url);
    /** Ask through the forward proxy, also for a WebSocket. */
    const ask = async (path, headers = {}) => {
      const url = `http://h.test/${path}/sk_live_hushhushhush1?token=hush-hush&shop=hush-hush`;
      const asked = get({ hostname, port, path: url, headers: { host: "h.test", ...headers } });
      await new Promise((resolve) => {
        asked
          .on("error", resolve)
          .on("response", (answer) => answer.resume().on("error", resolve).on("close", resolve));
        asked.on("upgrade", (_, socket) => resolve(socket.on("error", () => {}).destroy()));
      });
    };
    const mocks = await connect({ title: "fails", proxyUrl: proxy.url, workerId: "of secrets", isolation: "required" });
    const fails = () => {
      throw new Error("wrong");
    };
    await mocks.route("**/thrown/**", fails);
    await mocks.route("**/left/**", () => {});
    await mocks.route("**/scheme/**", (route) => route.continue({ url: "ftp://h.test/" }));
    await mocks.route("**/twice/**", async (route) => {
      await route.fulfill();
      await route.fulfill();
    });
    await mocks.route(({ href }) => href.includes("/judged/") && fails(), fails);
    await mocks.routeWebSocket("**/socket/**", fails);
    for (const path of ["thrown", "left", "scheme", "twice", "judged"]) await ask(path);
    await ask("socket", {
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    });
    await mocks.requests();
    const text = mocks
      .takeErrors()
      .map(({ message, stack }) => message + stack)
      .join("\n");
    assert.doesNotMatch(text, /hush/);
    for (const path of ["thrown", "left", "scheme", "twice", "judged", "socket"]) {
      const shown = new RegExp(
        `h.test/${path}/\\[redacted:\\w{8}\\]\\?token=\\[redacted:(\\w{8})\\]&shop=\\[redacted:\\1\\]`,
      );
      assert.match(text, shown);
    }
    await mocks.end();
  });

  test("a wrong variable of the report is an error of end, not of Jest's event", async (t) => {
    const events = Symbol.for("EVENT_HANDLERS");
    const handlers = (globalThis[events] = []);
    process.env.JEST_WORKER_ID = "1";
    t.after(() => {
      delete globalThis[events];
      for (const name of ["JEST_WORKER_ID", "TRAFFICMOCK_REPORT_MODE"]) delete process.env[name];
    });
    const options = { proxyUrl: proxy.url, workerId: "of Jest" };
    await (await connect({ title: "begins to listen", ...options })).end();
    const run = { errors: [], invocations: 1 };
    handlers[0]({ name: "test_start", test: run });
    const mocks = await connect({ title: "ends", ...options });
    process.env.TRAFFICMOCK_REPORT_MODE = "never";
    await assert.rejects(mocks.end(), /the mode of a report is/);
    await handlers[0]({ name: "test_done", test: run });
  });

  test("a process ends although the report of its test cannot be begun", () => {
    const script = `
      import { connect } from "trafficmock-playwright/core";
      const mocks = await connect({ title: "ends", proxyUrl: ${JSON.stringify(proxy.url)} });
      await mocks.route("**", () => {}, { times: 1, required: true });
      await mocks.end().catch(({ message }) => console.log(message));
    `;
    const said = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
      env: { ...process.env, TRAFFICMOCK_REPORT: "report", TRAFFICMOCK_REPORT_MODE: "never" },
      encoding: "utf8",
      timeout: 20000,
    });
    assert.match(said, /^no request met the route "\*\*"/);
    assert.match(said, /the mode of a report is/);
  });

  test("a proxy that is not there is an error, at once", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    await assert.rejects(connect({ title: "none", proxyUrl: url }), new RegExp(`trafficmock proxy at ${url}`));
  });

  test("the proxy's end is an error of each call", async () => {
    const gone = await startProxy();
    const mocks = await connect({ title: "lost", proxyUrl: gone.url });
    const wait = mocks.waitForRequest("**");
    await Promise.all([assert.rejects(wait, /Lost connection/), gone.stop()]);
    await assert.rejects(
      mocks.route("**", () => {}),
      /Lost connection/,
    );
    await assert.rejects(mocks.end(), /Lost connection/);
  });
});

/** Wait until the worker, and the thread that answers for it, are connected. */
async function connections(proxy, count) {
  for (const end = Date.now() + 20_000; proxy.said().split("playwright-0 connected").length <= count;) {
    assert.ok(Date.now() < end, proxy.said());
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("a test that stands still keeps its requests", async (t) => {
  const limits = { "heartbeat-ms": 100, "idle-timeout-ms": 400, "claim-timeout-ms": 400 };
  const proxy = await startProxy(...Object.entries(limits).flatMap(([name, ms]) => [`--${name}`, String(ms)]));
  t.after(() => proxy.stop());
  const shop = await startShop(proxy.url);
  t.after(() => shop.stop());
  const mocks = await connect({ title: "stands still", proxyUrl: proxy.url });
  await connections(proxy, 2);
  await mocks.route("**/price/*", (route) => {
    // As at a breakpoint: nothing of this thread runs.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
    return route.fulfill({ json: { price: 5 } });
  });
  assert.match(await (await fetch(`${shop.url}/price/cup`, { headers: mocks.headers })).text(), /"price">5</);
  await mocks.end();
});

test("what strict mode refused and no test owns can be asked for", async (t) => {
  const proxy = await startProxy("--strict", "--allow", "auth.example");
  t.after(() => proxy.stop());
  const { hostname, port } = new URL(proxy.url);
  for (const _ of [1, 2]) {
    const asked = get({ hostname, port, path: "http://flags.example/all", headers: { host: "flags.example" } });
    const [answer] = await once(asked, "response");
    assert.equal(answer.resume().statusCode, 403);
  }
  const mocks = await connect({ title: "asks", proxyUrl: proxy.url });
  const [{ message, clientId, sender, at, lastAt, ...refused }, ...others] = await mocks.unmatched();
  assert.deepEqual(refused, { method: "GET", url: "http://flags.example/all", kind: "http", count: 2 });
  assert.ok(at <= lastAt && lastAt <= Date.now());
  assert.equal(sender, `client ${clientId}`);
  assert.match(message, /allows only auth\.example/);
  assert.equal(typeof clientId, "string");
  assert.deepEqual(others, []);
  await mocks.end();
});

test("the end of a strict test writes on stderr what no test owns, once for all tests", async (t) => {
  const proxy = await startProxy("--strict");
  t.after(() => proxy.stop());
  const { hostname, port } = new URL(proxy.url);
  const send = async (host) => {
    const [answer] = await once(get({ hostname, port, path: `http://${host}/`, headers: { host } }), "response");
    answer.resume();
  };
  const written = [];
  const { write } = process.stderr;
  process.stderr.write = (text) => written.push(text) > 0;
  try {
    for (const workerId of ["0", "1"]) {
      const mocks = await connect({ title: workerId, proxyUrl: proxy.url, strict: true, workerId });
      if (workerId === "0") await Promise.all(["nobody.test", "checkpoint.prisma.io"].map(send));
      await mocks.end();
    }
  } finally {
    process.stderr.write = write;
  }
  const [text, ...others] = written;
  assert.deepEqual(others, []);
  assert.match(text, /^What frameworks sent .*\n {2}GET http:\/\/checkpoint\.prisma\.io\/, client .*\n.*preset:prisma/);
  assert.match(
    text,
    /\nStrict mode refused requests that no test owns:\n {2}GET http:\/\/nobody\.test\/, client proxy, at /,
  );
});

test("a strict test or run without an application fails", async (t) => {
  const proxy = await startProxy();
  t.after(() => proxy.stop());
  const alone = await connect({ title: "alone", proxyUrl: proxy.url, strict: true });
  await assert.rejects(alone.end(), /No application was connected to the proxy during this strict test/);
  const connection = await WorkerConnection.open({ proxyUrl: proxy.url, workerId: "0" });
  await connection.refuseUnowned([]);
  const mocks = await connect({ title: "in a run", proxyUrl: proxy.url, strict: true });
  await mocks.end();
  const { noApplication } = await connection.unmatched();
  assert.match(noApplication, /No application was connected to the proxy during this strict run/);
  await connection.close();
});

test("an answer that came while the test stood still is in time", async () => {
  const questions = new Questions(100);
  const late = questions.answerTo("ping 1");
  const answer = questions.answerTo("ping 2");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  setImmediate(() => questions.answered({ type: "pong", at: 2 }));
  assert.equal((await answer).at, 2);
  const alive = setInterval(() => {}, 1000);
  await assert.rejects(late, /did not answer ping within 100 ms/);
  const [longer, endless] = [200, Infinity].map((beyond) => questions.answerTo(`wait:register ${beyond}`, beyond));
  await assert.rejects(questions.answerTo("ping 3"), /within 100 ms/);
  await assert.rejects(longer, /did not answer wait:register within 300 ms/);
  assert.ok(questions.answered({ type: "wait:met", waitId: "Infinity" }));
  await endless;
  clearInterval(alive);
});

test("a bad call is refused before anything is sent", async () => {
  const answering = createServer((request, response) => response.end("no proxy")).listen(0, "127.0.0.1");
  await once(answering, "listening");
  const url = `http://127.0.0.1:${answering.address().port}`;
  const other = await connect({ title: "other", proxyUrl: url }).catch((error) => error);
  assert.match(other.message, /^What answers at http:\S+ is no trafficmock proxy \(it answered \/ws with status 200\)/);
  assert.match(other.stack, /^ConnectionError: .*\n {4}at \S+core\.test\.mjs:\d+:\d+$/);
  await assert.rejects(connect({ title: "bad", proxyUrl: "localhost" }), /URL such as/);
  answering.close();
});
