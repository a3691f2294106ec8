import assert from "node:assert/strict";
import http from "node:http";
import https from "node:https";
import { after, before, describe, test } from "node:test";
import axios from "axios";
import got from "got";
import nodeFetch from "node-fetch";
import { Agent, RetryAgent, request } from "undici7";
import { WebSocket } from "ws";
import { startTrafficMock } from "../index.mjs";
import { startProxy } from "./lib/proxy.mjs";
import { startUpstream } from "./lib/upstream.mjs";

const CODE = "ERR_TRAFFICMOCK_UNMATCHED_REQUEST";

/** @returns {Promise<never>} what a request by callbacks ends with */
const asked = (client, url) =>
  new Promise((resolve, reject) => client.get(url).on("response", resolve).on("error", reject));

/** Each client asks for a URL; those that repeat what failed are told to do so at once. */
const CLIENTS = {
  fetch: (url) => fetch(url),
  "node:http": (url) => asked(http, url),
  "node:https": (url) => asked(https, url.replace("http:", "https:")),
  axios: (url) => axios.get(url),
  "node-fetch": (url) => nodeFetch(url),
  "got, which repeats": (url) => got(url, { retry: { limit: 2, calculateDelay: (at) => (at.computedValue ? 1 : 0) } }),
  "undici's RetryAgent": (url) =>
    request(url, { dispatcher: new RetryAgent(new Agent(), { maxRetries: 2, minTimeout: 1 }) }),
  WebSocket: (url) => new Promise((_, reject) => new WebSocket(url.replace("http", "ws")).on("error", reject)),
};

/** @returns {string | undefined} the code of an error, or of what it wraps */
const codeOf = (error) => error && (error.code === CODE ? CODE : codeOf(error.cause));

describe("strict mode of the service", () => {
  let proxy, upstream, agent;
  before(async () => {
    proxy = await startProxy("--strict", "--allow", "allowed.test");
    upstream = await startUpstream();
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app", webSocket: "all" });
  });
  after(async () => {
    await agent.stop();
    await upstream.stop();
    await proxy.stop();
  });

  /** @returns {Promise<{ url: string }[]>} what the proxy saw of a path, requests and WebSockets */
  async function seen(path) {
    const [{ entries }, { connections }] = await Promise.all([proxy.get("/api/history"), proxy.get("/api/ws")]);
    const urls = [...entries.map((each) => each.request.url), ...connections.map((each) => each.url)];
    return urls.filter((url) => new URL(url).pathname === path);
  }

  for (const [name, ask] of Object.entries(CLIENTS)) {
    test(`${name} fails at once, and does not ask again`, async () => {
      const path = `/${encodeURIComponent(name)}`;
      const error = await ask(`http://api.shop.test${path}`).then(
        () => assert.fail("it was answered"),
        (error) => error,
      );
      assert.equal(codeOf(error), CODE, String(error));
      assert.equal((await seen(path)).length, 1);
    });
  }

  test("the error says what to do", async () => {
    await assert.rejects(asked(http, "http://api.shop.test/text"), {
      message:
        "GET http://api.shop.test/text is not mocked, and strict mode allows only allowed.test. " +
        "It carries the context of no test. Add a route, or allow api.shop.test.",
    });
  });

  for (const name of ["fetch", "axios", "node-fetch", "got, which repeats"]) {
    test(`a redirect to what is not allowed is not followed by ${name}`, async () => {
      const elsewhere = `http://elsewhere.test/${encodeURIComponent(name)}`;
      const url = `${upstream.url}/redirect?to=${encodeURIComponent(elsewhere)}`;
      const error = await CLIENTS[name](url).then(
        () => assert.fail("it was followed"),
        (error) => error,
      );
      assert.equal(codeOf(error), CODE, String(error));
      const { entries } = await proxy.get("/api/history");
      const [refused, first] = entries;
      assert.deepEqual([refused.request.url, refused.outcome.code], [elsewhere, "unmatched_request"]);
      assert.equal(refused.redirectedFromId, first.id);
    });

    test(`a redirect to what is allowed is followed by ${name}`, async () => {
      const response = await CLIENTS[name](`${upstream.url}/redirect?to=${encodeURIComponent("/ok")}`);
      assert.equal(response.status ?? response.statusCode, 200);
    });
  }

  test("hosts under test are allowed", async () => {
    assert.equal((await fetch(`${upstream.url}/`)).ok, true);
  });
});
