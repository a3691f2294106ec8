import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { CLIENTS, hasUndici, loadClients } from "./clients.mjs";
import { startProxy, until } from "./proxy.mjs";
import { startUpstream } from "./upstream.mjs";
import { startWorker } from "./worker.mjs";

/** Any port that nobody listens on, and that fetch does not refuse by itself. */
const DEAD = "http://127.0.0.1:2";
const b64 = (text) => Buffer.from(text).toString("base64");

/** What is true of every client. Each gets the stage and a client's `send`. */
const FEATURES = {
  mock: async ({ worker, path }, send) => {
    await worker.route(path("mock"), (r) =>
      r.text("mocked", { status: 201, statusText: "Made", headers: { "x-mock": "yes" } }),
    );
    const response = await send(`http://nowhere.test/${path("mock")}`);
    assert.equal(response.status, 201);
    assert.equal(response.header("x-mock"), "yes");
    assert.equal(String(await response.read()), "mocked");
  },
  "reason phrase of a mock": async ({ worker, path }, send) => {
    const wanted = ["Unauthorized", "Très bien"];
    await worker.route(path("phrase"), (r) =>
      r.fulfill({ status: 401, statusText: r.request.url.includes("told") ? wanted[1] : "" }),
    );
    for (const [at, end] of ["", "?told"].entries()) {
      const response = await send(`http://nowhere.test/${path("phrase")}${end}`);
      assert.equal(response.statusText, wanted[at]);
    }
  },
  "two set-cookie": async ({ worker, path }, send) => {
    await worker.route(path("cookie"), (r) =>
      r.fulfill({
        headersList: [
          ["Set-Cookie", "a=1"],
          ["X-Between", "1"],
          ["Set-Cookie", "b=2"],
        ],
      }),
    );
    const response = await send(`http://nowhere.test/${path("cookie")}`);
    assert.deepEqual(response.cookies, ["a=1", "b=2"]);
  },
  "binary mock": async ({ worker, path }, send) => {
    const bytes = Buffer.from([...Array(256).keys()]);
    await worker.route(path("binary"), (r) => r.fulfill({ bodyBase64: bytes.toString("base64") }));
    const response = await send(`http://nowhere.test/${path("binary")}`);
    assert.deepEqual(await response.read(), bytes);
  },
  "mock of 204": async ({ worker, path }, send) => {
    await worker.route(path("empty"), (r) => r.text("not allowed here", { status: 204 }));
    const response = await send(`http://nowhere.test/${path("empty")}`);
    assert.equal(response.status, 204);
    assert.equal((await response.read()).length, 0);
  },
  "bad mock": async ({ worker, path }, send) => {
    await worker.route(path("bad"), (r) => r.fulfill({ status: 101 }));
    await assert.rejects(settled(send(`http://nowhere.test/${path("bad")}`)));
  },
  "request body": async ({ worker, path }, send) => {
    await worker.route(path("body"), (r) =>
      r.text(`${r.request.method} ${Buffer.from(r.request.bodyBase64, "base64")}`),
    );
    const response = await send(`http://nowhere.test/${path("body")}`, {
      method: "POST",
      body: "données",
      headers: { "content-type": "text/plain" },
    });
    assert.equal(String(await response.read()), "POST données");
  },
  passthrough: async ({ upstream, path, proxy }, send) => {
    const response = await send(`${upstream.url}/${path("pass")}`, {
      method: "PUT",
      body: "up",
      headers: { "content-type": "text/plain", "X-Kept": "Kept" },
    });
    const echo = JSON.parse(String(await response.read()));
    assert.equal(echo.method, "PUT");
    assert.equal(echo.body, "up");
    const row = await rowOf(proxy, path("pass"), (entry) => entry.outcome.response);
    assert.equal(row.outcome.kind, "passthrough");
    assert.equal(row.request.bodyBase64, b64("up"));
    assert.equal(JSON.parse(Buffer.from(row.outcome.response.bodyBase64, "base64")).body, "up");
  },
  "gzip passthrough": async ({ upstream, path, proxy }, send) => {
    const response = await send(`${upstream.url}/gzip?${path("gz")}`, { headers: { "accept-encoding": "gzip" } });
    const body = await response.read();
    // Those that do not decode get it as it came; nobody gets anything else.
    assert.equal(
      response.coded ? body.subarray(0, 2).toString("hex") : String(body),
      response.coded ? "1f8b" : "packed text",
    );
    const row = await rowOf(proxy, path("gz"), (entry) => entry.outcome.response);
    assert.equal(row.outcome.response.bodyBase64, b64("packed text"));
    assert.equal(row.outcome.response.headers["content-encoding"], undefined);
  },
  HEAD: async ({ upstream, path }, send) => {
    const response = await send(`${upstream.url}/head?${path("head")}`, { method: "HEAD" });
    assert.equal(response.header("content-length"), "1234");
  },
  "upstream 304": async ({ upstream, path }, send) => {
    const response = await send(`${upstream.url}/304?${path("304")}`, { headers: { "if-none-match": '"x"' } });
    assert.equal(response.status, 304);
  },
  continue: async ({ worker, upstream, path, proxy }, send) => {
    await worker.route(path("cont"), (r) =>
      r.continue({
        url: `${upstream.url}/echo?changed`,
        method: "POST",
        headers: { "x-new": "1" },
        bodyBase64: b64("new body"),
      }),
    );
    const response = await send(`http://nowhere.test/${path("cont")}`);
    const echo = JSON.parse(String(await response.read()));
    assert.deepEqual([echo.method, echo.url, echo.body], ["POST", "/echo?changed", "new body"]);
    assert.ok(echo.rawHeaders.includes("x-new"));
    const row = await rowOf(proxy, path("cont"), (entry) => entry.outcome.response);
    assert.equal(row.outcome.response.url, `${upstream.url}/echo?changed`);
  },
  "fetch, then fulfill": async ({ worker, upstream, path }, send) => {
    await worker.route(path("fetched"), async (r) => {
      const { ok, response } = await r.fetch({ overrides: { url: `${upstream.url}/redirect?to=/gzip` } });
      assert.ok(ok);
      r.fulfill({ ...response, bodyBase64: b64(`modified ${Buffer.from(response.bodyBase64, "base64")}`) });
    });
    const response = await send(`http://nowhere.test/${path("fetched")}`);
    assert.equal(String(await response.read()), "modified packed text");
  },
  "abort codes": async ({ worker, path }, send) => {
    const wanted = {
      failed: "ECONNRESET",
      connectionreset: "ECONNRESET",
      aborted: "ECONNABORTED",
      timedout: "ETIMEDOUT",
      connectionrefused: "ECONNREFUSED",
      namenotresolved: "ENOTFOUND",
    };
    for (const [code, expected] of Object.entries(wanted)) {
      await worker.route(path(`abort-${code}-`), (r) => r.abort(code));
      const error = await settled(send(`http://nowhere.test/${path(`abort-${code}-`)}`)).then(
        () => assert.fail("not aborted"),
        (error) => error,
      );
      assert.equal(codeOf(error), expected);
    }
  },
  "real failure": async ({ path, proxy }, send) => {
    const error = await settled(send(`${DEAD}/${path("dead")}`)).then(
      () => assert.fail("reached"),
      (error) => error,
    );
    assert.equal(codeOf(error), "ECONNREFUSED");
    await rowOf(proxy, path("dead"), (entry) => entry.events.some(({ kind }) => kind === "upstream_error"));
  },
  AbortSignal: async ({ worker, path, proxy }, send) => {
    const controller = new AbortController();
    await worker.route(path("signal"), () => controller.abort());
    await assert.rejects(settled(send(`http://nowhere.test/${path("signal")}`, { signal: controller.signal })));
    await rowOf(proxy, path("signal"), (entry) => entry.outcome.kind === "aborted");
  },
  redirect: async ({ upstream, path, proxy }, send) => {
    const response = await send(`${upstream.url}/redirect?${path("hop")}&to=/redirect?to=/${path("end")}`, {
      redirect: true,
    });
    assert.equal(response.status, 200);
    const last = await rowOf(
      proxy,
      path("end"),
      (entry) => entry.outcome.response?.status === 200 && entry.redirectedFromId,
    );
    const { entry: middle } = await proxy.get(`/api/history/${last.redirectedFromId}`);
    assert.equal(middle.outcome.response.status, 302);
    const { entry: first } = await proxy.get(`/api/history/${middle.redirectedFromId}`);
    assert.match(first.request.url, new RegExp(path("hop")));
  },
  "failing hop": async ({ upstream, path, proxy }, send) => {
    await assert.rejects(settled(send(`${upstream.url}/redirect?to=${DEAD}/${path("deadhop")}`, { redirect: true })));
    const hop = await until(proxy, "/api/history", ({ entries }) =>
      entries.find(
        (entry) =>
          entry.request.url.startsWith(DEAD) &&
          entry.request.url.includes(path("deadhop")) &&
          entry.events.some(({ kind }) => kind === "upstream_error"),
      ),
    );
    const { entry: first } = await proxy.get(`/api/history/${hop.redirectedFromId}`);
    assert.ok(!first.events.some(({ kind }) => kind === "upstream_error"));
  },
  streaming: async ({ upstream, path }, send) => {
    const response = await send(`${upstream.url}/steps?${path("sse")}`);
    assert.ok(response.stream, "this client does not stream");
    let text = "";
    for await (const chunk of response.stream()) {
      text += Buffer.from(chunk);
      // The upstream sends the second event only when the first has been seen.
      if (text === "data: 1\n\n") upstream.step();
    }
    assert.equal(text, "data: 1\n\ndata: 2\n\n");
  },
};

/** Cells that the library itself does not have. */
const NOT_THERE = {
  "node:http": ["redirect", "failing hop"],
  // It has no signal, and its abort() rejects a second promise that nobody can catch.
  superagent: ["streaming", "AbortSignal"],
  // Its handler joins cookies to one text, and follows nothing.
  "AWS SDK": ["two set-cookie", "redirect", "failing hop"],
  // Its answers have no reason phrase.
  ...Object.fromEntries(
    ["undici6 request", "undici6 Agent", "undici6 maxRedirections"].map((name) => [name, ["reason phrase of a mock"]]),
  ),
};

/**
 * Run every feature with every client; print the table.
 * @param {string} title
 * @param {() => Promise<(options: object) => Promise<{ stop(): Promise<void> }>>} getStart how the agent is loaded
 * @param {(name: string) => Promise<any>} load
 */
export function runMatrix(title, getStart, load) {
  /** @type {Record<string, Record<string, string>>} */
  const table = {};
  describe(title, async () => {
    const stage = {};
    let agent;
    let clients;
    before(async () => {
      stage.proxy = await startProxy();
      stage.upstream = await startUpstream();
      const start = await getStart();
      agent = await start({ proxyUrl: stage.proxy.url, clientId: "matrix" });
      stage.worker = await startWorker(stage.proxy.url);
      // After the start, as with a preload: what is taken apart before keeps its own functions.
      clients = await loadClients(load);
    });
    after(async () => {
      stage.worker.close();
      await agent.stop();
      await stage.upstream.stop();
      await stage.proxy.stop();
      print(title, table);
    });
    let number = 0;
    for (const name of CLIENTS) {
      for (const [feature, check] of Object.entries(FEATURES)) {
        const cell = (value) => {
          (table[name] ??= {})[feature] = value;
        };
        if (!hasUndici(name) || NOT_THERE[name]?.includes(feature)) {
          cell("n/a");
          continue;
        }
        test(`${name}: ${feature}`, { timeout: 20000 }, async () => {
          const mark = (number += 1);
          cell("FAILED");
          await check({ ...stage, path: (word) => `${word}-${mark}-` }, clients[name]);
          cell("ok");
        });
      }
    }
  });
}

/** A call is settled when its body is read, too. */
async function settled(promise) {
  const response = await promise;
  return response.read();
}

const rowOf = (proxy, mark, ready) =>
  until(proxy, "/api/history", ({ entries }) =>
    entries.find((entry) => entry.request.url.includes(mark) && ready(entry)),
  );

/** What the application's retry logic would look at. */
const codeOf = (error) => error.cause?.code ?? error.code;

function print(title, table) {
  const clients = CLIENTS.filter((name) => table[name]);
  const width = Math.max(...Object.keys(FEATURES).map((name) => name.length));
  const lines = [`${title}, Node ${process.version}`, `${" ".repeat(width)}  ${clients.join("  ")}`];
  for (const feature of Object.keys(FEATURES)) {
    lines.push(
      `${feature.padEnd(width)}  ${clients.map((name) => (table[name][feature] ?? "").padEnd(name.length)).join("  ")}`,
    );
  }
  process.stdout.write(`${lines.map((line) => line.trimEnd()).join("\n")}\n`);
}
