import assert from "node:assert/strict";
import net, { createServer } from "node:net";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { IMPORT, REQUIRE, runNode } from "../lib/child.mjs";
import { startProxy, stop, until } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

/** Far beyond what is waited for, since the machine may be busy; far below what waits for ever. */
const MOST_MS = 20_000;

const FETCH = (url) =>
  `fetch(${JSON.stringify(url)}).then((r) => r.text()).then((t) => console.log(t), (e) => console.log(e.cause?.code, e.cause?.message))`;

describe("start and stop", () => {
  let proxy, upstream, worker;
  before(async () => {
    proxy = await startProxy();
    upstream = await startUpstream();
    worker = await startWorker(proxy.url);
    await worker.route("/mocked", (r) => r.text("from the test"));
  });
  after(async () => {
    worker.close();
    await upstream.stop();
    await proxy.stop();
  });

  test("stop() puts everything back and fails what waits", async () => {
    const before = [globalThis.fetch, http.request, http.Agent.prototype.addRequest];
    const agent = await startTrafficMock({
      proxyUrl: proxy.url,
      clientId: "stopper",
    });
    assert.equal(agent.clientId, "stopper");
    assert.notEqual(http.request, before[1]);
    await worker.route("/held-at-stop", () => {});
    const held = fetch("http://nowhere.test/held-at-stop");
    held.catch(() => {});
    await worker.waitFor("request:matched", (message) => message.request.url.includes("held-at-stop"));
    await agent.stop();
    await assert.rejects(held, (error) => error.cause.code === "ERR_TRAFFICMOCK_STOPPED");
    assert.deepEqual([globalThis.fetch, http.request, http.Agent.prototype.addRequest], before);
    assert.match(await (await fetch(`${upstream.url}/mocked`)).text(), /rawHeaders/);
  });

  test("what refuses the application's connections, as msw and nock can, does not keep the agent from its proxy", async () => {
    const { ClientRequest } = http;
    const { connect } = net.Socket.prototype;
    // The first start loads the agent, as a preload does before the application.
    await (await startTrafficMock({ proxyUrl: proxy.url })).stop();
    const refuse = () => {
      throw new Error("refused");
    };
    http.ClientRequest = new Proxy(ClientRequest, { construct: refuse });
    net.Socket.prototype.connect = refuse;
    try {
      const agent = await startTrafficMock({ proxyUrl: proxy.url });
      assert.throws(() => new net.Socket().connect(1), /refused/);
      await agent.stop();
      assert.equal(net.Socket.prototype.connect, refuse);
    } finally {
      http.ClientRequest = ClientRequest;
      net.Socket.prototype.connect = connect;
    }
  });

  test("a second start is refused while the first is attached", async () => {
    const agent = await startTrafficMock({ proxyUrl: proxy.url });
    await assert.rejects(startTrafficMock({ proxyUrl: proxy.url }), {
      code: "ERR_TRAFFICMOCK_ALREADY_STARTED",
    });
    await agent.stop();
  });

  test("a call under the preload shares what is attached", async () => {
    const code = `require('./src/index.js').startTrafficMock().then(async ({ clientId, stop }) => {
      console.log(clientId, await (await fetch('http://nowhere.test/mocked')).text())
      await stop()
    })`;
    const { stdout } = await runNode(code, {
      env: { TRAFFICMOCK_PROXY_URL: proxy.url, TRAFFICMOCK_CLIENT_ID: "both" },
    });
    assert.equal(stdout, "both from the test\n");
  });

  describe("stop() of a call under the preload", () => {
    const SHARED = `
      const { startTrafficMock } = require('./src/index.js')
      const ask = () => fetch('http://nowhere.test/unknown').then((r) => r.status, (e) => e.cause.code)
      const share = async () => {
        const [one, other] = [await startTrafficMock(), await startTrafficMock()]
        const codes = [await ask()]
        await one.stop()
        await one.stop()
        codes.push(await ask())
        await other.stop()
        codes.push(await ask())
        const last = await startTrafficMock()
        codes.push(last.clientId, await ask())
        return codes
      }`;
    const MAIN = `${SHARED}; share().then((codes) => console.log(JSON.stringify(codes)))`;
    const THREAD = `${SHARED}; share().then((codes) => require('node:worker_threads').parentPort.postMessage(codes))`;
    const ways = {
      "of a process": MAIN,
      "of a worker thread": `new (require('node:worker_threads').Worker)(${JSON.stringify(THREAD)}, { eval: true })
        .on('message', (codes) => console.log(JSON.stringify(codes)))`,
    };
    for (const [name, code] of Object.entries(ways)) {
      test(`leaves the agent ${name} attached, and strict`, async () => {
        const strict = await startProxy("--strict");
        const env = { TRAFFICMOCK_PROXY_URL: strict.url, TRAFFICMOCK_CLIENT_ID: "shared" };
        const { stdout, stderr } = await runNode(code, { env });
        await strict.stop();
        const refused = "ERR_TRAFFICMOCK_UNMATCHED_REQUEST";
        assert.deepEqual(JSON.parse(stdout || JSON.stringify(stderr)), [refused, refused, refused, "shared", refused]);
      });
    }
  });

  test("the handshake says what this agent can do, and the proxy lists it", async () => {
    const agent = await startTrafficMock({
      proxyUrl: proxy.url,
      clientId: "listed",
    });
    await until(proxy, "/api/connections", ({ nodeAgents }) =>
      nodeAgents.some(({ clientId }) => clientId === "listed"),
    );
    await agent.stop();
    await until(
      proxy,
      "/api/connections",
      ({ nodeAgents }) => !nodeAgents.some(({ clientId }) => clientId === "listed"),
    );
  });

  for (const [name, preload] of Object.entries({
    "--require": REQUIRE,
    "--import": IMPORT,
  })) {
    for (const module of [false, true]) {
      test(`${name} attaches ${module ? "ESM" : "CommonJS"} without code`, async () => {
        const env = { TRAFFICMOCK_PROXY_URL: proxy.url };
        const { stdout, stderr, status } = await runNode(FETCH("http://nowhere.test/mocked"), { env, module, preload });
        assert.equal(stdout, "from the test\n");
        assert.equal(stderr, "");
        assert.equal(status, 0);
      });
    }
  }

  test("an application that takes long to load loses no request", async () => {
    // Nothing is heard while it loads, which is longer than anybody waits for a handshake.
    const load = "for (const end = Date.now() + 2600; Date.now() < end;);";
    const { stdout, stderr } = await runNode(`${load}; setImmediate(() => ${FETCH("http://nowhere.test/mocked")})`, {
      env: { TRAFFICMOCK_PROXY_URL: proxy.url },
    });
    assert.equal(stdout, "from the test\n");
    assert.equal(stderr, "");
  });

  test("the variables of the npm packages are accepted", async () => {
    const { stdout } = await runNode(FETCH("http://nowhere.test/mocked"), {
      env: { PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL: proxy.url },
    });
    assert.equal(stdout, "from the test\n");
  });

  test("an attached process that has nothing to do ends", async () => {
    const { ms, status } = await runNode("", {
      env: { TRAFFICMOCK_PROXY_URL: proxy.url },
    });
    assert.equal(status, 0);
    assert.ok(ms < MOST_MS, `it took ${ms} ms`);
  });

  test("what goes to the proxy itself is not intercepted", async () => {
    const agent = await startTrafficMock({ proxyUrl: proxy.url });
    await fetch(`${proxy.url.replace("127.0.0.1", "localhost")}/health`).catch(() => {});
    await proxy.get("/health");
    const { entries } = await proxy.get("/api/history");
    assert.ok(!entries.some(({ request }) => request.url.includes("/health")));
    await agent.stop();
  });
});

describe("when things go wrong", () => {
  test("a proxy that is not there is one clear error, and nothing is patched", async () => {
    const before = http.request;
    const started = Date.now();
    await assert.rejects(startTrafficMock({ proxyUrl: "http://127.0.0.1:2" }), {
      code: "ERR_TRAFFICMOCK_UNREACHABLE",
      message: /127\.0\.0\.1:2.*trafficmock serve/,
    });
    assert.ok(Date.now() - started < MOST_MS);
    assert.equal(http.request, before);
  });

  test("a proxy that says nothing is given up after 2 s", async (t) => {
    const mute = createServer().listen(0, "127.0.0.1");
    t.after(() => mute.close());
    await new Promise((resolve) => mute.once("listening", resolve));
    const started = Date.now();
    await assert.rejects(startTrafficMock({ proxyUrl: `http://127.0.0.1:${mute.address().port}` }));
    assert.ok(Date.now() - started < MOST_MS);
  });

  test("an invalid URL, and an unknown choice, are named", async () => {
    await assert.rejects(startTrafficMock({ proxyUrl: "proxy" }), {
      name: "TypeError",
      message: /"proxy"/,
    });
    await assert.rejects(startTrafficMock({ proxyUrl: "http://x", webSocket: "some" }), {
      name: "TypeError",
      message: /"some"/,
    });
  });

  test("a wrong token is said so; a right one comes in", async () => {
    const proxy = await startProxy("--token", "secret");
    await assert.rejects(startTrafficMock({ proxyUrl: proxy.url, token: "wrong" }), {
      code: "ERR_TRAFFICMOCK_UNAUTHORIZED",
      message: /TRAFFICMOCK_TOKEN/,
    });
    const agent = await startTrafficMock({
      proxyUrl: proxy.url,
      token: "secret",
    });
    await agent.stop();
    const inUrl = await startTrafficMock({
      proxyUrl: proxy.url.replace("//", "//me:secret@"),
    });
    assert.equal(inUrl.clientId, "me");
    await inUrl.stop();
    await proxy.stop();
  });

  test("a preload without its proxy prints one line; the app lives, its requests fail", async () => {
    const { stdout, stderr, status } = await runNode(FETCH("http://127.0.0.1:3/x"), {
      env: { TRAFFICMOCK_PROXY_URL: "http://127.0.0.1:2" },
    });
    assert.match(stdout, /^ERR_TRAFFICMOCK_UNREACHABLE /);
    assert.match(stderr, /^trafficmock: .*127\.0\.0\.1:2.*\n$/);
    assert.equal(status, 0);
  });

  test("a preload whose settings are wrong says so without the token, and lets nothing out", async () => {
    const { stdout, stderr, status } = await runNode(FETCH("http://127.0.0.1:3/x"), {
      env: { TRAFFICMOCK_PROXY_URL: "shop:s3cret@127.0.0.1:4310" },
    });
    assert.match(stdout, /^ERR_TRAFFICMOCK_INVALID_SETTINGS /);
    assert.match(stderr, /^trafficmock: the proxy URL must look like [^\n]*127\.0\.0\.1:4310"\n$/);
    assert.doesNotMatch(stderr + stdout, /s3cret/);
    assert.equal(status, 0);
  });

  const preloadIn = (file) =>
    runNode(
      `process.argv[1] = ${JSON.stringify(file)}; require("./register.js"); require("http").get("http://127.0.0.1:3/").on("error", (error) => console.log(error.code))`,
      {
        preload: "",
        env: { TRAFFICMOCK_PROXY_URL: "http://127.0.0.1:2" },
      },
    );

  test("a preload inside a package manager does nothing", async () => {
    const tools = [
      "/usr/lib/node_modules/npm/bin/npm-cli.js",
      "/usr/share/nodejs/npm/lib/cli.js",
      "/home/ada/.yarn/releases/yarn-4.1.0.cjs",
    ];
    for (const { stdout, stderr } of await Promise.all(tools.map(preloadIn))) {
      assert.deepEqual([stdout, stderr], ["ECONNREFUSED\n", ""]);
    }
  });

  test("a preload attaches an application in a directory that is named as a package manager", async () => {
    for (const { stdout } of await Promise.all(["/srv/npm/shop.mjs", "/srv/yarn/dist/main.js"].map(preloadIn))) {
      assert.equal(stdout, "ERR_TRAFFICMOCK_UNREACHABLE\n");
    }
  });

  test("a lost link fails what waits and what comes, until it is back", async () => {
    let proxy = await startProxy();
    const upstream = await startUpstream();
    const port = new URL(proxy.url).port;
    const agent = await startTrafficMock({
      proxyUrl: proxy.url,
      clientId: "survivor",
    });
    const worker = await startWorker(proxy.url);
    await worker.route("/held", () => {});
    const held = [
      fetch("http://nowhere.test/held").catch((error) => error.cause.code),
      new Promise((resolve) => http.get("http://nowhere.test/held").on("error", (error) => resolve(error.code))),
    ];
    await until(proxy, "/api/history", ({ entries }) => entries.length === 2);
    worker.close();
    await stop(proxy.process, "SIGKILL");
    const codes = await Promise.all(held);
    assert.ok(
      codes.every((code) => code === "ERR_TRAFFICMOCK_DISCONNECTED"),
      codes.join(),
    );
    await assert.rejects(fetch(`${upstream.url}/echo`), (error) => /^ERR_TRAFFICMOCK_/.test(error.cause.code));
    assert.deepEqual(upstream.seen, []);
    proxy = await startProxy("--port", port);
    await until(proxy, "/api/connections", ({ nodeAgents }) => nodeAgents.length === 1, 10000);
    assert.equal((await fetch(`${upstream.url}/echo`)).status, 200);
    await agent.stop();
    await upstream.stop();
    await proxy.stop();
  });

  test("mocks that no response can carry fail their request only", async () => {
    const proxy = await startProxy();
    const agent = await startTrafficMock({ proxyUrl: proxy.url });
    const worker = await startWorker(proxy.url);
    const bad = {
      status: { status: 101 },
      name: { headers: { "a b": "x" } },
      value: { headers: { a: "x\ny" } },
      wide: { headers: { a: "\u{1F600}" } },
      text: { statusText: "a\r\nb" },
    };
    for (const [name, mock] of Object.entries(bad)) {
      await worker.route(`/bad-${name}`, (r) => r.fulfill(mock));
      await assert.rejects(
        fetch(`http://nowhere.test/bad-${name}`),
        (error) => error.cause.code === "ERR_TRAFFICMOCK_HANDLER_FAILED",
      );
      await new Promise((resolve) =>
        http.get(`http://nowhere.test/bad-${name}`).on("error", (error) => {
          assert.equal(error.code, "ERR_TRAFFICMOCK_HANDLER_FAILED");
          resolve();
        }),
      );
    }
    worker.close();
    await agent.stop();
    await proxy.stop();
  });
});
