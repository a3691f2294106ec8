/* Applications in the process of their tests: this file attaches its own process. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { after, before, beforeEach, afterEach, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { attachSelf, connect } from "trafficmock-playwright/core";
import { startProxy } from "../../agent/test/lib/proxy.mjs";
import { freePort, makeProject, runProgram } from "./lib/project.mjs";

const PRICES = "http://prices.example/v1";
const AGENT = fileURLToPath(new URL("../../agent", import.meta.url));

/** Ask for a price as an application does. */
const price = async () => (await (await fetch(PRICES)).json()).price;

/** @returns {Promise<{ url: string, seen: any[], stop(): void }>} a server of this process, which asks for the price */
async function startServer() {
  const seen = [];
  const server = http.createServer(async (request, response) => {
    seen.push(request.headers);
    response.end(await price().then(String, String));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { url: `http://127.0.0.1:${server.address().port}/`, seen, stop: () => server.close() };
}

describe("a process that is attached for its tests", () => {
  let proxy;
  before(async () => {
    proxy = await startProxy();
  });
  after(() => proxy.stop());

  async function begin(t, options) {
    const mocks = await connect({ title: t.name, proxyUrl: proxy.url, attachSelf: true, ...options });
    t.after(() => mocks.end());
    return mocks;
  }

  describe("tests at the same time", { concurrency: true }, () => {
    for (const n of [1, 2, 3]) {
      test(`get their own answers without headers: ${n}`, async (t) => {
        const mocks = await begin(t, { strict: true });
        await mocks.route(PRICES, (route) => route.fulfill({ json: { price: n } }));
        assert.deepEqual(await Promise.all([price(), price()]), [n, n]);
        assert.equal((await mocks.requests()).length, 2);
      });
    }
  });

  test("a route for a server here says why no request met it", async () => {
    const { url, stop } = await startServer();
    const mocks = await connect({ title: "stub", proxyUrl: proxy.url, attachSelf: true, required: true });
    const other = await connect({ title: "other", proxyUrl: proxy.url, attachSelf: true, required: true });
    await mocks.mock(`${url}by`, { json: {} });
    await other.mock("http://never.test/", { json: {} });
    await (await fetch(`${url}by`)).text();
    stop();
    await assert.rejects(mocks.end(), ({ message }) => {
      const { port } = new URL(url);
      assert.ok(message.includes(`port ${port} is a server of this process; its requests are not routed.`), message);
      assert.doesNotMatch(message, /No request of any application/);
      return true;
    });
    await assert.rejects(other.end(), /No request of any application came|never\.test/);
  });

  test("a call of a server here is not seen, and its handler is the test's", async (t) => {
    const { url, seen, stop } = await startServer();
    t.after(stop);
    const mocks = await begin(t, { strict: true });
    await mocks.mock("**", { json: { price: 7 } });
    assert.equal(await (await fetch(url)).text(), "7");
    const [answer] = await once(http.get(url), "response");
    assert.equal((await answer.toArray()).join(""), "7");
    assert.deepEqual(
      (await mocks.requests()).map((request) => request.url()),
      [PRICES, PRICES],
    );
    for (const { baggage } of seen) assert.equal(baggage, `trafficmock.test=${mocks.id}`);
  });

  test("a call of an application elsewhere is answered by a route that names it, and by no other", async (t) => {
    const code = `
      const server = require("node:http").createServer((_, response) => response.end("real"));
      server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
    const application = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
    t.after(() => application.kill());
    const [port] = await once(application.stdout, "data");
    const origin = `http://127.0.0.1:${String(port).trim()}`;
    const ask = async (path) => (await fetch(origin + path)).text();
    const mocks = await begin(t);
    await mocks.mock("**/*", { body: "mocked" });
    await mocks.mock(/\/a$/, { body: "mocked" });
    await mocks.route(
      () => true,
      (route) => route.fulfill({ body: "mocked" }),
    );
    assert.equal(await ask("/a"), "real");
    assert.equal(await (await fetch("http://third.example/a")).text(), "mocked");
    await mocks.mock(`${origin}/named`, { body: "named" });
    assert.equal(await ask("/named"), "named");
  });

  test("a replay that has answered nothing is said", async (t) => {
    const project = makeProject({ files: { "a.har": JSON.stringify({ log: { version: "1.2", entries: [] } }) } });
    t.after(project.remove);
    const said = t.mock.method(console, "warn", () => {});
    const mocks = await begin(t);
    await mocks.routeFromHAR(join(project.place, "a.har"));
    await mocks.end({ failed: false });
    const [[text]] = said.mock.calls.map((call) => call.arguments);
    assert.match(
      text,
      /the HAR .*a\.har .*in-process\.test\.mjs.*: the replay has answered no request of an application/,
    );
  });

  describe("tests that a hook begins", () => {
    let mocks;
    let server;
    /** A test elsewhere that mocks the same, so that a request without a context is ambiguous. */
    let elsewhere;
    let prices = 0;
    before(async () => {
      server = await startServer();
      elsewhere = await connect({ title: "elsewhere", proxyUrl: proxy.url, attachSelf: false });
      await elsewhere.mock(PRICES, { json: { price: 0 } });
    });
    after(async () => {
      server.stop();
      await elsewhere.end();
    });
    beforeEach(async () => {
      mocks = await connect({ title: "by a hook", proxyUrl: proxy.url, attachSelf: true });
      prices += 1;
      await mocks.mock(PRICES, { json: { price: prices } });
    });
    afterEach(() => mocks.end());

    for (const n of [1, 2]) {
      test(`get their own answers: ${n}`, async () => {
        assert.equal(await (await fetch(server.url)).text(), String(n));
        assert.equal(await price(), n);
        assert.equal((await mocks.requests()).length, 2);
      });
    }
  });

  test("a test within another one gives it back at its end", async (t) => {
    const outer = await begin(t);
    await outer.mock(PRICES, { json: { price: 1 } });
    const inner = await connect({ title: "inner", proxyUrl: proxy.url });
    t.after(() => inner.end());
    await inner.mock(PRICES, { json: { price: 2 } });
    assert.equal(await price(), 2);
    assert.equal(await outer.run(price), 1);
    await inner.end();
    assert.equal(await price(), 1);
  });

  test("a test may stay outside, and then needs its headers", async (t) => {
    const outside = await connect({ title: "outside", proxyUrl: proxy.url, attachSelf: false });
    t.after(() => outside.end());
    await outside.mock(PRICES, { json: { price: 3 } });
    const mocks = await begin(t);
    await mocks.mock(PRICES, { json: { price: 4 } });
    assert.equal(await price(), 4);
    assert.throws(() => outside.run(price), /run: this process is not attached/);
  });

  test("another proxy, and a wrong option or variable, are errors of the call", async () => {
    const other = { title: "other", proxyUrl: `http://127.0.0.1:${await freePort()}`, attachSelf: true };
    await assert.rejects(connect(other), { name: "UsageError", message: /attached to http.*call stop\(\) first/ });
    await assert.rejects(attachSelf({ proxyURL: "x" }), /did you mean proxyUrl/);
    process.env.TRAFFICMOCK_ATTACH_SELF = "yes";
    try {
      await assert.rejects(connect({ title: "wrong", proxyUrl: proxy.url }), /TRAFFICMOCK_ATTACH_SELF must be 0 or 1/);
    } finally {
      delete process.env.TRAFFICMOCK_ATTACH_SELF;
    }
  });

  test("it is one agent until stop, which restores the clients", async (t) => {
    const self = await attachSelf({ proxyUrl: proxy.url });
    assert.equal(self.clientId, "trafficmock-playwright");
    const { nodeAgents } = await proxy.get("/api/connections");
    assert.equal(nodeAgents.length, 1);
    const replaced = http.request;
    await self.stop();
    assert.notEqual(http.request, replaced);
    const ignored = `127.0.0.1:${await freePort()}`;
    const named = await attachSelf({ proxyUrl: proxy.url, clientId: "shop", ignoreHosts: [ignored] });
    assert.equal(named.clientId, "shop");
    const mocks = await connect({ title: "named", proxyUrl: proxy.url, strict: true });
    t.after(() => mocks.end());
    await mocks.route({ url: PRICES, clientId: "shop" }, (route) => route.fulfill({ json: { price: 5 } }));
    assert.equal(await price(), 5);
    await assert.rejects(fetch(`http://${ignored}`), ({ cause }) => cause.code === "ECONNREFUSED");
    await named.stop();
  });

  test("a proxy that is not there is an error, and nothing is changed", async () => {
    const { request } = http;
    const proxyUrl = `http://127.0.0.1:${await freePort()}`;
    await assert.rejects(attachSelf({ proxyUrl }), { name: "ConnectionError", message: /Failed to connect/ });
    await assert.rejects(connect({ title: "none", proxyUrl, attachSelf: true }), { name: "ConnectionError" });
    assert.equal(http.request, request);
  });
});

/** Run the example of the documentation. */
async function runExample(t, argv, env) {
  const example = "docs/examples/in-process-node";
  const { place, remove } = makeProject({ copied: [example] });
  t.after(remove);
  for (const name of ["express", "supertest"]) {
    symlinkSync(join(AGENT, "node_modules", name), join(place, "node_modules", name));
  }
  const ended = await runProgram(join(place, example), [process.execPath, ...argv, "--test"], env);
  assert.equal(ended.status, 0, ended.output);
  assert.match(ended.output, /pass 3\n/);
}

test("the example works as it stands, with supertest", async (t) => {
  const proxy = await startProxy();
  t.after(() => proxy.stop());
  await runExample(t, [], { TRAFFICMOCK_PROXY_URL: proxy.url });
});

test("it does under a preload, whose agent the tests share", async (t) => {
  const proxy = await startProxy();
  t.after(() => proxy.stop());
  await runExample(t, ["--require", join(AGENT, "register.js")], { TRAFFICMOCK_PROXY_URL: proxy.url });
});

test("a process of Playwright's is attached for the tests that run in it", async (t) => {
  const proxy = await startProxy();
  t.after(() => proxy.stop());
  const spec = `
    import { expect, test } from "trafficmock-playwright";
    const price = async () => (await (await fetch("${PRICES}")).json()).price;
    for (const title of ["one", "other"]) {
      test(title, async ({ trafficmock }) => {
        await trafficmock.mock("${PRICES}", { json: { price: title } });
        expect(await price()).toBe(title);
        const [asked] = await trafficmock.requests("${PRICES}");
        expect(asked.url()).toBe("${PRICES}");
        await trafficmock.strict();
        await expect(fetch("http://other.example/")).rejects.toThrow();
        await expect(async () => expect(trafficmock.takeErrors()).toHaveLength(1)).toPass();
      });
    }`;
  const files = { "a.spec.mjs": spec, "playwright.config.mjs": "export default { fullyParallel: true, workers: 2 };" };
  const { run, remove } = makeProject({ files });
  t.after(remove);
  const env = { TRAFFICMOCK_PROXY_URL: proxy.url, TRAFFICMOCK_ATTACH_SELF: "1" };
  const { output } = await run(["--reporter=line"], env);
  assert.match(output, /2 passed/);
});
