import assert from "node:assert/strict";
import axios from "axios";
import got from "got";
import nodeFetch from "node-fetch";
import { after, before, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { startProxy, until } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

/** `send(url, { method, headers, body })` gives what the upstream's /echo saw at the end. */
const CLIENTS = {
  fetch: async (url, options) => (await fetch(url, options)).json(),
  "undici7 fetch": async (url, options) => (await (await import("undici7")).fetch(url, options)).json(),
  "undici7 redirect": async (url, options) => {
    const { request, Agent, interceptors } = await import("undici7");
    const { body } = await request(url, {
      ...options,
      dispatcher: new Agent().compose(interceptors.redirect({ maxRedirections: 5 })),
    });
    return body.json();
  },
  axios: async (url, { body, ...options } = {}) => (await axios(url, { ...options, data: body, proxy: false })).data,
  got: (url, options) => got(url, { ...options, retry: { limit: 0 } }).json(),
  "node-fetch": async (url, options) => (await nodeFetch(url, options)).json(),
};

describe("the headers of a handler's continue", () => {
  let proxy, upstream, elsewhere, worker, agent;
  before(async () => {
    proxy = await startProxy();
    upstream = await startUpstream();
    elsewhere = await startUpstream();
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url);
  });
  after(async () => {
    worker.close();
    await agent.stop();
    await Promise.all([upstream.stop(), elsewhere.stop()]);
    await proxy.stop();
  });

  const redirect = (to, status = 302) => `/redirect?status=${status}&to=${encodeURIComponent(to)}`;
  const valueOf = ({ rawHeaders }, name) =>
    rawHeaders.find((_, index) => index % 2 === 1 && rawHeaders[index - 1].toLowerCase() === name);

  test("route.fetch tells credentials to their own origin only", async () => {
    const credentials = { authorization: "Bearer app", cookie: "app=1", "proxy-authorization": "Basic app" };
    const sent = [
      [redirect("/echo"), Object.values(credentials)],
      [redirect(`${elsewhere.url}/echo`), [undefined, undefined, undefined]],
    ];
    for (const [path, expected] of sent) {
      await worker.route(path, async (r) => r.fulfill((await r.fetch()).response));
      const seen = await (await fetch(upstream.url + path, { headers: credentials })).json();
      assert.deepEqual(
        Object.keys(credentials).map((name) => valueOf(seen, name)),
        expected,
      );
    }
  });

  for (const [name, send] of Object.entries(CLIENTS)) {
    const own = encodeURIComponent(name);
    const options = () => ({ headers: { "x-app": "app", authorization: "Bearer app", cookie: "app=1" } });

    test(`${name}: hold for every hop`, async () => {
      const end = `/echo?end=${own}`;
      const path = redirect(redirect(end, 307));
      await worker.route(path, (r) => r.continue({ headers: { "x-new": "handler", authorization: "Bearer handler" } }));
      const seen = await send(upstream.url + path, options());
      assert.equal(valueOf(seen, "x-new"), "handler");
      assert.equal(valueOf(seen, "authorization"), "Bearer handler");
      assert.equal(valueOf(seen, "x-app"), undefined);
      assert.equal(valueOf(seen, "cookie"), "app=1");
      const { request, redirectedFromId } = await until(proxy, "/api/history", ({ entries }) =>
        entries.find(
          (entry) => entry.request.url.endsWith(end) && entry.outcome.response && !entry.outcome.response.bodyPending,
        ),
      );
      assert.equal(request.headers["x-new"], "handler");
      assert.ok(redirectedFromId);
    });

    test(`${name}: hold on another origin, without credentials`, async () => {
      const path = redirect(`${elsewhere.url}/echo?by=${own}`);
      await worker.route(path, (r) => r.continue({ headers: { "x-new": "handler", authorization: "Bearer handler" } }));
      const seen = await send(upstream.url + path, options());
      assert.equal(valueOf(seen, "x-new"), "handler");
      assert.equal(valueOf(seen, "authorization"), undefined);
      assert.equal(valueOf(seen, "host"), new URL(elsewhere.url).host);
    });

    test(`${name}: leave a body as it is`, async () => {
      const [kept, dropped] = [redirect(`/echo?kept=${own}`, 307), redirect(`/echo?dropped=${own}`, 303)];
      for (const path of [kept, dropped]) {
        await worker.route(path, (r) => r.continue({ headers: { ...r.request.headers, "x-new": "handler" } }));
      }
      for (const body of ["small", "b".repeat(200000)]) {
        const seen = await send(upstream.url + kept, {
          method: "POST",
          body,
          headers: { "content-type": "text/plain" },
        });
        assert.equal(seen.body, body);
        assert.equal(valueOf(seen, "x-new"), "handler");
        assert.equal(valueOf(seen, "content-type"), "text/plain");
      }
      const seen = await send(upstream.url + dropped, {
        method: "POST",
        body: "small",
        headers: { "content-type": "text/plain" },
      });
      assert.deepEqual(
        [seen.method, seen.body, valueOf(seen, "content-type"), valueOf(seen, "x-new")],
        ["GET", "", undefined, "handler"],
      );
    });

    test(`${name}: a continue without headers changes no hop`, async () => {
      const path = redirect(`/echo?plain=${own}`, 307);
      await worker.route(path, (r) => r.continue({ method: "GET" }));
      assert.equal(valueOf(await send(upstream.url + path, options()), "x-app"), "app");
    });
  }
});
