import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { PassThrough, Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { after, before, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { everyUndici, hasUndici } from "../lib/clients.mjs";
import { startProxy, until } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

/** Nothing here may take as long, unless it hangs. */
const HANGS_MS = 5000;

let proxy, upstream, worker, agent;
const versions = {};

/** @returns {Promise<any>} of what must not wait for ever */
function settled(promise, ms = HANGS_MS) {
  let timer;
  const late = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error("it hangs")), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The history's entry of a request, once it has what `test` looks for. */
const row = (path, test = () => true) =>
  until(proxy, "/api/history", ({ entries }) =>
    entries.find(({ request, outcome }) => request.url.endsWith(path) && test(outcome)),
  );

before(async () => {
  proxy = await startProxy();
  upstream = await startUpstream();
  agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app", ignoreHosts: ["ignored.test"] });
  worker = await startWorker(proxy.url);
  // Node's own undici first: whichever is there first gives `fetch` its dispatcher.
  await fetch(upstream.url);
  Object.assign(versions, await everyUndici());
});

after(async () => {
  worker.close();
  await agent.stop();
  await upstream.stop();
  await proxy.stop();
});

/** @returns a handler of undici, in its older and its newer form */
const whole = (resolve, reject) => ({
  ...{ onConnect() {}, onHeaders: () => true, onData: () => true, onComplete: resolve, onError: reject },
  ...{ onRequestStart() {}, onResponseStart() {}, onResponseData() {}, onResponseEnd: resolve },
  onResponseError: (_, error) => reject(error),
});

/** Run a test for every undici. */
function each(title, act) {
  for (const version of ["undici6", "undici7", "undici8"].filter(hasUndici)) {
    test(`${version}: ${title}`, () => act(versions[version], `/${title.replace(/\W/g, "-")}-${version}`));
  }
}

describe("a request that the agent passes on without asking", () => {
  each("a dispatcher that is busy says so", async ({ Client }, path) => {
    const server = http.createServer((_, answer) => answer.end()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const lookup = (name, options, done) => done(null, [{ address: "127.0.0.1", family: 4 }]);
    const client = new Client(`http://ignored.test:${server.address().port}`, { connect: { lookup } });
    const drained = once(client, "drain");
    const taken = [];
    const ended = [1, 2].map(
      (n) =>
        new Promise((resolve, reject) => {
          taken.push(client.dispatch({ path: `${path}-${n}`, method: "GET" }, whole(resolve, reject)));
        }),
    );
    assert.deepEqual(taken, [false, false]);
    await settled(Promise.all([...ended, drained]));
    await client.close();
    server.close();
  });
});

describe("a handler that aborts while a mock is served", () => {
  const RETRY = { minTimeout: 1, maxRetries: 2 };

  each("retries of a mocked status end in an error", async ({ request, RetryAgent, Agent, interceptors }, path) => {
    let asked = 0;
    await worker.route(path, (r) => {
      asked += 1;
      return r.text("busy", { status: 503 });
    });
    for (const dispatcher of [new RetryAgent(new Agent(), RETRY), new Agent().compose(interceptors.retry(RETRY))]) {
      asked = 0;
      await assert.rejects(settled(request(`http://nowhere.test${path}`, { dispatcher })), {
        code: "UND_ERR_REQ_RETRY",
      });
      assert.equal(asked, 3);
    }
  });

  each("a retry gets the next mock", async ({ request, RetryAgent, Agent }, path) => {
    const statuses = [429, 200];
    await worker.route(path, (r) => r.text("so", { status: statuses.shift() }));
    const { statusCode, body } = await settled(
      request(`http://nowhere.test${path}`, { dispatcher: new RetryAgent(new Agent(), RETRY) }),
    );
    assert.equal(statusCode, 200);
    assert.equal(await body.text(), "so");
  });

  each("it is told once, wherever it aborts", async ({ Agent }, path) => {
    await worker.route(path, (r) => r.text("mocked"));
    const reason = new Error("no more");
    for (const where of ["head", "data", "throw"]) {
      const told = [];
      await settled(
        new Promise((resolve) => {
          let abort;
          const act = (at, go) => {
            told.push(at);
            if (at === "data" && where === "throw") throw reason;
            if (at === where) abort(reason);
            if (at === "error") setImmediate(resolve);
            return go;
          };
          const legacy = {
            onConnect: (given) => {
              abort = given;
            },
            onHeaders: () => act("head", true),
            onData: () => act("data", true),
            onComplete: () => act("end"),
            onError: (error) => {
              assert.equal(error, reason);
              act("error");
            },
          };
          const modern = {
            onRequestStart: (controller) => {
              abort = (given) => controller.abort(given);
            },
            onResponseStart: () => act("head"),
            onResponseData: () => act("data"),
            onResponseEnd: () => act("end"),
            onResponseError: (controller, error) => {
              assert.equal(error, reason);
              act("error");
            },
          };
          const isLegacy = new Agent().constructor === versions.undici6.Agent;
          new Agent().dispatch({ origin: "http://nowhere.test", path, method: "GET" }, isLegacy ? legacy : modern);
        }),
      );
      assert.deepEqual(told, where === "head" ? ["head", "error"] : ["head", "data", "error"], where);
    }
  });
});

describe("an origin with a path", () => {
  each("is the origin alone, as undici takes it", async ({ Client, Pool }, path) => {
    for (const Kind of [Client, Pool]) {
      const dispatcher = new Kind(upstream.url);
      const origin = new URL("/base", upstream.url);
      const { body } = await dispatcher.request({ origin, path: `/base${path}`, method: "GET" });
      await body.dump();
      await dispatcher.close();
    }
    const { request } = await row(path);
    assert.equal(request.url, `${upstream.url}/base${path}`);
  });
});

describe("undici's DNS interceptor", () => {
  /** Everything is on this machine, whatever it is called. */
  const lookup = (_origin, _options, done) => done(null, [{ address: "127.0.0.1", ttl: 1000, family: 4 }]);
  const named = (url, path) => `http://api.shop.test:${new URL(url).port}${path}`;

  each("a route sees the host that the application named", async ({ request, fetch, Agent, interceptors }, path) => {
    const dispatcher = new Agent().compose(interceptors.dns({ lookup, dualStack: false, affinity: 4 }));
    await worker.route(`//api.shop.test:2${path}`, (r) => r.text("mocked"));
    assert.equal(await (await request(`http://api.shop.test:2${path}`, { dispatcher })).body.text(), "mocked");
    assert.equal(await (await fetch(`http://api.shop.test:2${path}`, { dispatcher })).text(), "mocked");
  });

  each("a host that is ignored is ignored by its name", async ({ request, Agent, interceptors }, path) => {
    const dispatcher = new Agent().compose(interceptors.dns({ lookup, dualStack: false, affinity: 4 }));
    await worker.route(path, (r) => r.text("mocked"));
    const { body } = await request(named(upstream.url, path).replace("api.shop", "ignored"), { dispatcher });
    assert.notEqual(await body.text(), "mocked");
  });

  each("what goes on is sent to the address", async ({ request, fetch, Agent, interceptors }, path) => {
    const dispatcher = new Agent().compose(interceptors.dns({ lookup, dualStack: false, affinity: 4 }));
    await worker.route(`${path}-changed`, (r) => r.continue({ headers: { "x-new": "1" } }));
    await worker.route(`${path}-fetched`, async (r) => r.fulfill((await r.fetch()).response));
    for (const kind of ["plain", "changed", "fetched"]) {
      const url = named(upstream.url, `${path}-${kind}`);
      const { body } = await settled(request(url, { dispatcher }));
      const { rawHeaders } = await body.json();
      assert.match(
        rawHeaders[rawHeaders.findIndex((name) => name.toLowerCase() === "host") + 1],
        /^api\.shop\.test/,
        kind,
      );
      assert.equal((await row(`${path}-${kind}`)).request.url, url);
    }
    await assert.rejects(
      settled(fetch(`http://api.shop.test:2${path}`, { dispatcher })),
      (error) => error.cause.code === "ECONNREFUSED",
    );
  });

  each(
    "a fetch that goes on changed has the headers that it was given",
    async ({ fetch, Agent, interceptors }, path) => {
      const dispatcher = new Agent().compose(interceptors.dns({ lookup, dualStack: false, affinity: 4 }));
      await worker.route(`${path}-changed`, (r) =>
        r.continue({ headersList: [...r.request.headersList, ["x-new", "1"], ["X-New", "2"]] }),
      );
      await worker.route(`${path}-fetched`, async (r) => r.fulfill((await r.fetch()).response));
      for (const [kind, added] of Object.entries({ changed: ["1", "2"], fetched: [] })) {
        const response = await settled(
          fetch(named(upstream.url, `${path}-${kind}`), { dispatcher, headers: { "x-own": "yes" } }),
        );
        const { rawHeaders } = await response.json();
        const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
        const valuesOf = (name) => rawHeaders.filter((_, at) => names[(at - 1) / 2] === name);
        assert.deepEqual(valuesOf("x-own"), ["yes"], kind);
        assert.deepEqual(valuesOf("x-new"), added, kind);
        assert.deepEqual(
          names.filter((name) => /^\d+$/.test(name)),
          [],
          kind,
        );
      }
    },
  );

  each("a plain address with a host header stays an address", async ({ request, Agent }, path) => {
    await worker.route(`//127.0.0.1:2${path}`, (r) => r.text("mocked"));
    const { body } = await request(`http://127.0.0.1:2${path}`, {
      dispatcher: new Agent(),
      headers: { host: "api.shop.test" },
    });
    assert.equal(await body.text(), "mocked");
  });
});

describe("a finished stream", () => {
  const framing = (seen) => [seen.headers["content-length"], seen.headers["transfer-encoding"]];
  const seen = (path) => upstream.seen.find(({ url }) => url === path);

  each("keeps its length", async ({ request, stream, pipeline: piped, Agent }, path) => {
    const finished = () => new PassThrough().end("hello");
    await (
      await request(`${upstream.url}${path}`, { method: "POST", body: finished(), dispatcher: new Agent() })
    ).body.dump();
    await stream(
      `${upstream.url}${path}-stream`,
      { method: "POST", body: finished(), dispatcher: new Agent() },
      () => new Writable({ write: (chunk, encoding, done) => done() }),
    );
    await pipeline(
      Readable.from(["hello"]),
      piped(`${upstream.url}${path}-piped`, { method: "POST", dispatcher: new Agent() }, ({ body }) => body),
      new Writable({ write: (chunk, encoding, done) => done() }),
    );
    for (const end of ["", "-stream"]) assert.deepEqual(framing(seen(path + end)), ["5", undefined], end);
    assert.equal(String(seen(`${path}-piped`).body), "hello");
  });

  each("of objects, or one that goes on, is chunked as before", async ({ request, Agent }, path) => {
    const send = async (name, body) =>
      (await request(`${upstream.url}${path}-${name}`, { method: "POST", body, dispatcher: new Agent() })).body.dump();
    await send("objects", Readable.from(["hello"]));
    const open = new PassThrough();
    open.write("hel");
    const sent = send("open", open);
    await row(`${path}-open`);
    open.end("lo");
    await sent;
    for (const name of ["objects", "open"]) {
      assert.deepEqual(framing(seen(`${path}-${name}`)), [undefined, "chunked"], name);
    }
  });
});

describe("a length that an application gives itself", () => {
  const options = { method: "POST", body: "abc", headers: { "Content-Length": "3" } };

  // An undici 8 that is loaded dispatches for Node's own fetch, and refuses it, without the agent, too.
  test("is no mismatch where fetch adds its own to it", { skip: hasUndici("undici8") }, async () => {
    // The fetch of undici 6 makes it `3, 3`, of which a connection reads the first.
    const response = await fetch(`${upstream.url}/own-length`, options);
    assert.equal(response.status, 200);
    await row("/own-length", (outcome) => outcome);
  });

  each("is no mismatch where fetch adds its own to it", async (undici, path) => {
    // Of Node's own dispatchers, which undici 6 uses here, those of Node 26 refuse `3, 3`.
    const dispatcher = new undici.Agent();
    assert.equal((await undici.fetch(upstream.url + path, { ...options, dispatcher })).status, 200);
    await dispatcher.close();
  });

  each("is refused if it is another", async (undici, path) => {
    const headers = { "content-length": "4" };
    await assert.rejects(settled(undici.request(upstream.url + path, { ...options, headers })), {
      code: "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH",
    });
  });
});

describe("an answer without a body that names a length", () => {
  const ANSWERS = [
    ["GET", "/204?length=5", 204],
    ["GET", "/304?length=5", 304],
    ["HEAD", "/head", 200],
  ];

  for (const [method, path, status] of ANSWERS) {
    test(`${method} ${path} ends with its head`, async () => {
      const clients = { builtin: (url) => fetch(url, { method }) };
      for (const [name, { fetch, Agent }] of Object.entries(versions)) {
        clients[name] = (url) => fetch(url, { method, dispatcher: new Agent() });
      }
      for (const [name, send] of Object.entries(clients)) {
        const own = `${path}${path.includes("?") ? "&" : "?"}by=${name}`;
        assert.equal((await settled(send(`${upstream.url}${own}`))).status, status);
        const { outcome } = await row(own, ({ response }) => response && !response.bodyPending);
        assert.equal(outcome.response.status, status);
        assert.equal(outcome.response.truncated, undefined);
        await worker.route(`${own}&fetched`, async (r) => r.fulfill((await r.fetch()).response));
        assert.equal((await settled(send(`${upstream.url}${own}&fetched`))).status, status);
      }
    });
  }
});

describe("the headers timeout", () => {
  const TIMED_OUT = { name: "HeadersTimeoutError", code: "UND_ERR_HEADERS_TIMEOUT", message: "Headers Timeout Error" };

  each("runs while a handler thinks", async ({ request, fetch, Agent, Pool, Client, errors }, path) => {
    await worker.route(path, () => {});
    const url = `http://nowhere.test${path}`;
    const isTimedOut = (error) => {
      assert.ok(error instanceof errors.HeadersTimeoutError);
      assert.ok(error instanceof errors.UndiciError);
      return true;
    };
    const own = { headersTimeout: 50 };
    await assert.rejects(settled(request(url, own)), TIMED_OUT);
    await assert.rejects(settled(request(url, own)), isTimedOut);
    for (const dispatcher of [
      new Agent(own),
      new Pool("http://nowhere.test", own),
      new Client("http://nowhere.test", own),
    ]) {
      await assert.rejects(settled(request(url, { dispatcher })), TIMED_OUT, dispatcher.constructor.name);
    }
    await assert.rejects(settled(request(url, { dispatcher: new Agent({ headersTimeout: 0 }), ...own })), TIMED_OUT);
    await assert.rejects(
      settled(fetch(url, { dispatcher: new Agent(own) })),
      ({ cause }) => cause.code === TIMED_OUT.code,
    );
    await row(path, ({ kind }) => kind === "aborted");
  });

  each("is undici's own against a server, and 0 is for ever", async ({ request, Agent }, path) => {
    const silent = net.createServer((socket) => socket.on("error", () => {})).listen(0, "127.0.0.1");
    await new Promise((resolve) => silent.once("listening", resolve));
    const { port } = silent.address();
    await assert.rejects(settled(request(`http://127.0.0.1:${port}${path}`, { headersTimeout: 50 })), TIMED_OUT);
    silent.close();
    let hold;
    const held = new Promise((resolve) => {
      hold = resolve;
    });
    await worker.route(`${path}-later`, (r) => hold(r));
    const answer = request(`http://nowhere.test${path}-later`, {
      headersTimeout: 0,
      dispatcher: new Agent({ headersTimeout: 20 }),
    });
    // The first to arrive is the one that waits for ever.
    const first = await settled(held);
    await assert.rejects(settled(request(`http://nowhere.test${path}-later`, { headersTimeout: 60 })), TIMED_OUT);
    first.text("mocked");
    assert.equal(await (await settled(answer)).body.text(), "mocked");
  });

  test("runs for Node's own fetch", async () => {
    await worker.route("/own-fetch", () => {});
    const dispatcher = new versions.undici6.Agent({ headersTimeout: 50 });
    await assert.rejects(
      settled(fetch("http://nowhere.test/own-fetch", { dispatcher })),
      ({ cause }) => cause.code === TIMED_OUT.code,
    );
  });
});
