import assert from "node:assert/strict";
import dns from "node:dns";
import http from "node:http";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import * as undici from "undici7";
import { WebSocket } from "ws";
import { startTrafficMock } from "../../index.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

const require = createRequire(import.meta.url);
const { Hosts } = require("../../src/hosts.js");
const { contextOf, withContext, withoutContext } = require("../../src/contexts/context-headers.js");

const ID = "a".repeat(32);
const CARRIED = {
  baggage: `x=1,trafficmock.test=${ID};p=1,y=2`,
  cookie: `a=1; trafficmock_test=${ID}; b=2`,
};
/** What an application with a tracer sends on of its inbound request. */
const TRACED = { traceparent: `00-${ID}-00f067aa0ba902b7-01`, b3: `${ID}-00f067aa0ba902b7-1` };

/** A generator of numbers that is the same in each run (mulberry32). */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

describe("headers that carry a context", () => {
  test("are read: the first member counts, and what is no id does not", () => {
    const read = (headers) => contextOf(headers)?.id;
    assert.equal(read({ baggage: `x=1 , trafficmock.test = ${ID} ;p=1,trafficmock.test=b` }), ID);
    assert.equal(read({ cookie: `a=1;trafficmock_test=${ID}` }), ID);
    assert.equal(read({ traceparent: `00-${ID}-00f067aa0ba902b7-01` }), ID);
    assert.equal(read({ baggage: `trafficmock.test=a b`, cookie: "trafficmock_test=c" }), "c");
    assert.equal(read({ baggage: `${"x".repeat(8192)},trafficmock.test=${ID}` }), undefined);
    assert.equal(read({ baggage: `${"x".repeat(8192 - 18)},trafficmock.test=${ID}` }), undefined);
    assert.equal(read({ baggage: `${"x".repeat(8192 - 18 - 32)},trafficmock.test=${ID}` }), ID);
    for (const headers of [
      {},
      { baggage: "" },
      { baggage: "trafficmock.tests=a" },
      { baggage: "atrafficmock.test=a" },
      { cookie: `trafficmock_test=${"x".repeat(65)}` },
      { traceparent: "00-1-2-3" },
      { traceparent: `00-${"0".repeat(32)}-00f067aa0ba902b7-01` },
      { baggage: `trafficmock.test=${"0".repeat(32)}`, cookie: `trafficmock_test=${"0".repeat(32)}` },
    ]) {
      assert.equal(read(headers), undefined, JSON.stringify(headers));
    }
  });

  test("lose it and nothing else, whatever they say", () => {
    const next = numbers(7);
    const words = ["trafficmock.test", "trafficmock_test", "x", "=", ",", ";", " ", "é", '"', "=a", "%2C", ""];
    for (let round = 0; round < 5000; round += 1) {
      const value = Array.from({ length: next(12) }, () => words[next(words.length)]).join("");
      const left = withoutContext([
        ["Baggage", value],
        ["cookie", value],
        ["x-other", value],
      ]);
      assert.deepEqual(left.at(-1), ["x-other", value]);
      const kept = Object.fromEntries(left.slice(0, -1).map(([name, one]) => [name.toLowerCase(), one]));
      assert.equal(contextOf(kept), undefined, value);
      const members = value.split(",").filter((member) => !/^\s*trafficmock\.test\s*(=|$)/.test(member));
      assert.equal(kept.baggage ?? "", /trafficmock[._]test/.test(value) ? members.join(",").trim() : value);
      assert.equal(contextOf({ baggage: withContext([["baggage", value]], ID)[0][1] })?.id, ID);
    }
  });
});

test("hosts of the system under test are globs, whatever else stands in them", () => {
  const hosts = new Hosts({ proxyUrl: "http://127.0.0.1:4310", ignoreHosts: [] });
  for (const mark of "()[]{}?+|^$\\") hosts.setSystem([`a${mark}b`]);
  hosts.setSystem(["a(b", "c+.test", "*.shop.test"]);
  const isOfSystem = (url) => hosts.isOfSystem(new URL(url));
  assert.deepEqual(["http://api.shop.test/", "http://cc.test/"].map(isOfSystem), [true, false]);
});

describe("what leaves the application", () => {
  const { lookup } = dns;
  let proxy, upstream, worker, application, attached, ignoreHosts;
  before(async () => {
    // All names are those of the upstream.
    dns.lookup = (host, options, done) => lookup("127.0.0.1", options, done);
    proxy = await startProxy("--own-host", "*.shop.test");
    upstream = await startUpstream();
    worker = await startWorker(proxy.url, { context: ID });
    await worker.route("/continued", (route) =>
      route.continue({ headers: { ...route.request.headers, "x-new": "1" } }),
    );
    await worker.route("/fetched", async (route) => route.fulfill((await route.fetch()).response));
    application = http.createServer(async (req, res) => {
      const { way, url } = JSON.parse(decodeURIComponent(req.headers["x-what"]));
      const { baggage, cookie, traceparent, b3 } = req.headers;
      const copied = { copied: { baggage, cookie }, traced: { traceparent, b3 } }[way];
      await { ...WAYS, ...SOCKETS }[way](url, copied ?? {}).then(
        () => res.end("done"),
        (error) => res.end(String(error.cause ?? error)),
      );
    });
    await new Promise((resolve) => application.listen(0, "127.0.0.1", resolve));
    ignoreHosts = [`127.0.0.1:${application.address().port}`, "ignored.example"];
    attached = await startTrafficMock({ proxyUrl: proxy.url, webSocket: "all", ignoreHosts });
  });
  after(async () => {
    await attached.stop();
    dns.lookup = lookup;
    application.closeAllConnections();
    application.close();
    worker.close();
    await upstream.stop();
    await proxy.stop();
  });

  const viaHttp = (url, options) =>
    new Promise((resolve, reject) => {
      http.get(url, options, (response) => response.resume().on("end", resolve)).on("error", reject);
    });
  const WAYS = {
    fetch: (url, headers) => fetch(url, { headers }).then((response) => response.text()),
    "node:http": (url, headers) => viaHttp(url, { headers }),
    "node:http, headers as a list": (url) => viaHttp(url, { headers: ["Host", new URL(url).host, "baggage", "z=3"] }),
    undici: (url, headers) => undici.request(url, { headers }).then(({ body }) => body.text()),
    copied: (url, headers) =>
      Promise.all([WAYS.fetch(url, headers), WAYS["node:http"](url, headers), WAYS.undici(url, headers)]),
    traced: (url, headers) => WAYS.copied(url, headers),
  };
  const SOCKETS = {
    ws: (url) =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(url.replace("http", "ws"), { headers: CARRIED });
        socket.on("open", () => socket.close()).on("close", resolve);
        socket.on("error", reject);
      }),
    "undici, WebSocket": (url) =>
      new Promise((resolve, reject) => {
        const socket = new undici.WebSocket(url.replace("http", "ws"), { headers: CARRIED });
        socket.onopen = () => socket.close();
        socket.onclose = resolve;
        socket.onerror = ({ error }) => reject(error);
      }),
  };

  /** @returns {Promise<any[]>} what the upstream got when the application was asked under a context */
  async function got(way, host, path, carried = CARRIED) {
    upstream.seen.length = 0;
    const url = `http://${host}:${new URL(upstream.url).port}/${path}`;
    const response = await new Promise((resolve, reject) => {
      const headers = { ...carried, "x-what": encodeURIComponent(JSON.stringify({ way, url })) };
      http.get({ port: application.address().port, host: "127.0.0.1", headers }, resolve).on("error", reject);
    });
    assert.equal((await response.toArray()).join(""), "done", `${way} ${host} ${path}`);
    assert.ok(upstream.seen.length > 0);
    return upstream.seen.map(({ headers }) => headers);
  }

  for (const carried of [TRACED, { ...TRACED, ...CARRIED }]) {
    for (const path of ["passed", "continued", "fetched"]) {
      const by = Object.keys(carried).join();
      test(`has the id in no header for others where it is ${path}, as another trace; by ${by}`, async () => {
        const others = new Set();
        for (const headers of await got("traced", "third.example", path, carried)) {
          assert.doesNotMatch(JSON.stringify(headers), new RegExp(`trafficmock|${ID}`));
          assert.match(headers.traceparent, /^00-[\da-f]{32}-00f067aa0ba902b7-01$/);
          assert.equal(headers.b3.slice(0, 32), headers.traceparent.slice(3, 35));
          others.add(headers.b3);
        }
        assert.equal(others.size, 1);
        for (const headers of await got("traced", "api.shop.test", path, carried)) {
          assert.deepEqual([headers.traceparent, headers.b3], Object.values(TRACED));
        }
      });
    }
  }

  test("has a trace that is no test's as it is", async () => {
    const traceparent = `00-${"b".repeat(32)}-00f067aa0ba902b7-01`;
    await new Promise((resolve) => {
      http.get(`http://third.example:${new URL(upstream.url).port}/passed`, { headers: { traceparent } }, (response) =>
        response.resume().on("end", resolve),
      );
    });
    assert.equal(upstream.seen.at(-1).headers.traceparent, traceparent);
  });

  for (const path of ["passed", "continued", "fetched"]) {
    test(`has the context for hosts of the system under test, and for no others, where it is ${path}`, async () => {
      for (const way of Object.keys(WAYS).filter((name) => name !== "traced")) {
        for (const host of ["127.0.0.1", "localhost", "api", "api.shop.test"]) {
          for (const headers of await got(way, host, path)) assert.equal(contextOf(headers)?.id, ID, `${way} ${host}`);
        }
        for (const headers of await got(way, "third.example", path)) {
          assert.doesNotMatch(JSON.stringify(headers), /trafficmock/, way);
          if (way === "copied") assert.deepEqual([headers.baggage, headers.cookie], ["x=1,y=2", "a=1; b=2"]);
          if (way.endsWith("list")) assert.equal(headers.baggage, "z=3");
        }
      }
      const seen = worker.seen.filter(({ type }) => type === "request:matched");
      assert.doesNotMatch(JSON.stringify(seen.map(({ request: one }) => one.headers)), /trafficmock/);
    });
  }

  test("has no context where its host is left alone", async () => {
    for (const headers of await got("copied", "ignored.example", "passed")) {
      assert.doesNotMatch(JSON.stringify(headers), /trafficmock/);
    }
  });

  test("is told without it in the history", async () => {
    const { entries } = await proxy.get("/api/history");
    assert.ok(entries.length > 20);
    assert.doesNotMatch(JSON.stringify(entries.map(({ request: one }) => one.headers)), /trafficmock|aaaaaaaa/);
  });

  async function checkHandshakes() {
    for (const way of Object.keys(SOCKETS)) {
      for (const [host, isOwn] of Object.entries({ "127.0.0.1": true, "third.example": false })) {
        const [headers] = await got(way, host, "ws");
        assert.equal(contextOf(headers)?.id, isOwn ? ID : undefined, `${way} ${host}`);
        assert.equal(headers.cookie, isOwn ? CARRIED.cookie : "a=1; b=2", `${way} ${host}`);
      }
    }
  }

  test("has the context in the handshake of a WebSocket, likewise", checkHandshakes);

  test("has it so in the handshake of a WebSocket that is not intercepted", async () => {
    await attached.stop();
    attached = await startTrafficMock({ proxyUrl: proxy.url, ignoreHosts });
    await checkHandshakes();
  });
});
