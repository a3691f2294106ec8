import assert from "node:assert/strict";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { startNode, REQUIRE } from "../lib/child.mjs";
import { startProxy, stop, until } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

const MOST_TRIES = 100;
/** The longest message that the proxy takes; bytes. */
const LONGEST = 20_000;

/** @returns {Promise<any>} what the proxy says of its agents' decisions */
const local = async (proxy) => (await proxy.get("/api/connections")).local;

const get = async (url) => (await fetch(url)).text();

describe("requests that no route can match", () => {
  let proxy, upstream, agent;
  before(async () => {
    proxy = await startProxy("--max-frame-bytes", String(LONGEST));
    upstream = await startUpstream();
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
  });
  after(async () => {
    await agent.stop();
    await upstream.stop();
    await proxy.stop();
  });

  /** Act until the proxy was not asked: on a busy machine a lease may be over too soon. */
  async function unasked(act) {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      await get(`${upstream.url}/lease`);
      const { asked } = await local(proxy);
      const result = await act();
      if ((await local(proxy)).asked === asked) return result;
    }
    return assert.fail("the proxy was asked every time");
  }

  /** @returns {Promise<any>} the history's newest entry of a path, once its response is there */
  const recorded = (path) =>
    until(proxy, "/api/history", ({ entries }) =>
      entries.find((entry) => entry.request.url.endsWith(path) && entry.outcome.response),
    );

  test("pass without a question, and are in the history all the same", async () => {
    const options = { method: "POST", body: "a body", headers: { "x-a": "b" } };
    const text = await unasked(async () => (await fetch(`${upstream.url}/unasked`, options)).text());
    const entry = await recorded("/unasked");
    assert.deepEqual([entry.action, entry.clientId, entry.request.method], ["passthrough", "app", "POST"]);
    assert.equal(entry.request.headers["x-a"], "b");
    assert.equal(Buffer.from(entry.request.bodyBase64, "base64").toString(), "a body");
    assert.equal(Buffer.from(entry.outcome.response.bodyBase64, "base64").toString(), text);
    assert.ok((await local(proxy)).passed > 0);
  });

  test("are all in the history of a proxy that takes no long messages", async () => {
    const names = Array.from({ length: 40 }, (_, n) => `/one-of-many-${n}`);
    const headers = { "x-long": "a".repeat(LONGEST / 20) };
    await unasked(() => Promise.all(names.map((name) => fetch(upstream.url + name, { headers }))));
    await until(proxy, "/api/history", ({ entries }) => {
      const there = new Set(entries.map(({ request }) => new URL(request.url).pathname));
      return names.every((name) => there.has(name));
    });
  });

  test("have their redirects in the history", async () => {
    const target = `${upstream.url}/target`;
    await unasked(() => get(`${upstream.url}/redirect?to=${encodeURIComponent(target)}&status=302`));
    assert.equal((await recorded("/target")).action, "passthrough");
  });

  test("are those of node:http too, with bodies that come bit by bit", async () => {
    const post = () =>
      new Promise((resolve, reject) => {
        const request = http.request(`${upstream.url}/bits`, { method: "POST" }, (answer) => {
          answer.resume().on("end", resolve);
        });
        request.on("error", reject);
        request.write("one");
        setImmediate(() => setImmediate(() => request.end("two")));
      });
    await unasked(post);
    const entry = await recorded("/bits");
    assert.equal(Buffer.from(entry.request.bodyBase64, "base64").toString(), "onetwo");
  });

  test("are told to who observes, in order, and not to who began later", async () => {
    await unasked(() => get(`${upstream.url}/before`));
    const worker = await startWorker(proxy.url);
    await unasked(() => get(`${upstream.url}/during`));
    await worker.waitFor("request:observed", ({ request }) => request.url.endsWith("/during"));
    await worker.waitFor("request:response");
    const told = worker.seen.filter(({ type }) => type === "request:observed");
    assert.deepEqual([...new Set(told.map(({ request }) => new URL(request.url).pathname))], ["/lease", "/during"]);
    worker.close();
  });

  test("are asked about by an application with TRAFFICMOCK_LOCAL=0", async () => {
    const app = await startNode(
      `process.on("message", () => {}); // It does not end before it is looked at.
      fetch(process.env.UPSTREAM).then((answer) => answer.text()).then(() => process.send("done"));`,
      {
        NODE_OPTIONS: REQUIRE,
        TRAFFICMOCK_PROXY_URL: proxy.url,
        TRAFFICMOCK_CLIENT_ID: "other",
        TRAFFICMOCK_LOCAL: "0",
        UPSTREAM: upstream.url,
      },
    );
    assert.equal(await app.next(), "done");
    const { nodeAgents } = await proxy.get("/api/connections");
    assert.deepEqual(
      nodeAgents.map(({ clientId, local: decided }) => [clientId, decided !== undefined]),
      [
        ["app", true],
        ["other", false],
      ],
    );
    await app.stop();
  });

  test("fail when the proxy has been killed, and do not go upstream", async () => {
    await get(`${upstream.url}/lease`);
    const failed = new Promise((resolve) => {
      const ask = () => fetch(`${upstream.url}/x`).then((answer) => answer.text().then(ask), resolve);
      void ask();
    });
    await stop(proxy.process, "SIGKILL");
    await failed;
    const { length } = upstream.seen;
    await assert.rejects(get(`${upstream.url}/late`));
    assert.equal(upstream.seen.length, length);
  });
});

test("where nobody wants to hear of them, nothing is sent but how many they were", async () => {
  const proxy = await startProxy("--history-capture", "none");
  const upstream = await startUpstream();
  const agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
  const count = 20;
  for (let n = 0; n < count; n += 1) await get(`${upstream.url}/silent`);
  // The next question says it.
  const worker = await startWorker(proxy.url, { features: ["subscribe"] });
  await worker.route("/mocked", (route) => route.text("mocked"));
  assert.equal(await get(`${upstream.url}/mocked`), "mocked");
  const { passed, asked } = await local(proxy);
  assert.ok(passed > 0);
  assert.equal(passed + asked, count + 1);
  worker.close();
  await agent.stop();
  await upstream.stop();
  await proxy.stop();
});
