import assert from "node:assert/strict";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import axios from "axios";
import got from "got";
import needle from "needle";
import nodeFetch from "node-fetch2";
import superagent from "superagent";
import { hasUndici } from "../lib/clients.mjs";
import { startTrafficMock } from "../../index.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

/*
 * A server does not answer. The time limit that a client has of its own ends the request with the same error as without
 * the agent, whatever a test does with it meanwhile.
 */

const MS = 120;
const undici = Object.fromEntries(
  await Promise.all(
    ["undici6", "undici7", "undici8"].filter(hasUndici).map(async (name) => [name, await import(name)]),
  ),
);

const ended = (req) => new Promise((resolve, reject) => req.on("response", resolve).on("error", reject));
const retry = { limit: 0 };

const CLIENTS = {
  "node:http, the option timeout": (url) => {
    const req = http.get(url, { timeout: MS });
    req.on("timeout", () => req.destroy(new Error("too late")));
    return ended(req);
  },
  "node:http, setTimeout": (url) => {
    const req = http.request(url, { method: "POST" });
    req.setTimeout(MS, () => req.destroy(new Error("too late")));
    req.end("body");
    return ended(req);
  },
  "node:http, the timeout of an http.Agent": (url) => {
    const req = http.get(url, { agent: new http.Agent({ timeout: MS }) });
    req.on("timeout", () => req.destroy(new Error("too late")));
    return ended(req);
  },
  "node:http, a signal": (url) => ended(http.get(url, { signal: AbortSignal.timeout(MS) })),
  "got, of the response": (url) => got(url, { timeout: { response: MS }, retry }),
  "got, of the response to a body": (url) => got.post(url, { body: "body", timeout: { response: MS }, retry }),
  "got, of the request": (url) => got(url, { timeout: { request: MS }, retry }),
  "got, of the socket": (url) => got(url, { timeout: { socket: MS }, retry }),
  axios: (url) => axios.get(url, { timeout: MS, adapter: "http" }),
  needle: (url) => needle("get", url, { response_timeout: MS }),
  "node-fetch 2": (url) => nodeFetch(url, { timeout: MS }),
  "superagent, of the response": (url) => superagent.get(url).timeout({ response: MS }),
  "fetch, a signal": (url) => fetch(url, { signal: AbortSignal.timeout(MS) }),
  ...Object.fromEntries(
    Object.entries(undici).flatMap(([name, { Agent, fetch: itsFetch, request }]) => [
      [`${name}, headersTimeout of the request`, (url) => request(url, { headersTimeout: MS })],
      [
        `${name}, headersTimeout of the dispatcher`,
        (url) => request(url, { method: "POST", body: "body", dispatcher: new Agent({ headersTimeout: MS }) }),
      ],
      [`${name}, fetch`, (url) => itsFetch(url, { dispatcher: new Agent({ headersTimeout: MS }) })],
    ]),
  ),
};

/** What an application may look at in an error. */
const described = (error) => ({
  name: error.name,
  code: error.code,
  message: error.message.replace(/http:\S+/, "URL"),
  ...(error.cause instanceof Error && { cause: described(error.cause) }),
});

/** What a test does with a request, by the end of its path. */
const WAYS = {
  passed: undefined,
  continued: (route) => route.continue({ headers: { "x-new": "1" } }),
  fetched: async (route) => route.fulfill((await route.fetch()).response),
  undecided: () => {},
};

describe("a client's time limit for a response", { concurrency: 8 }, () => {
  let proxy, upstream, url, agent, worker;
  const without = {};
  before(async () => {
    // It keeps every request.
    upstream = http.createServer(() => {}).listen(0, "127.0.0.1");
    await new Promise((resolve) => upstream.once("listening", resolve));
    url = `http://127.0.0.1:${upstream.address().port}`;
    await Promise.all(
      Object.keys(CLIENTS).map(async (name) => {
        without[name] = await error(name, "passed");
      }),
    );
    proxy = await startProxy();
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url);
    for (const [way, handler] of Object.entries(WAYS)) if (handler) await worker.routeGlob(`**/${way}`, handler);
  });
  after(async () => {
    worker.close();
    await agent.stop();
    upstream.closeAllConnections();
    upstream.close();
    await proxy.stop();
  });

  const error = (name, way) =>
    CLIENTS[name](`${url}/${way}`).then(
      () => assert.fail("it was answered"),
      (reason) => described(reason),
    );

  for (const name of Object.keys(CLIENTS)) {
    for (const way of Object.keys(WAYS)) {
      test(`${name}: ${way}, it ends as without the agent`, async () => {
        assert.deepEqual(await error(name, way), without[name]);
      });
    }
  }
});
