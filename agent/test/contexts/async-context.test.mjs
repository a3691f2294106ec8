import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import { request } from "undici7";
import { WebSocket } from "ws";
import { startTrafficMock } from "../../index.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

const storage = new AsyncLocalStorage();

/** @returns {Promise<[string, unknown][]>} each event of a request, with what the storage has in it */
function eventsOf(url, body) {
  const events = [];
  const hear = (emitter, ...names) => {
    for (const name of names) emitter.on(name, () => events.push([name, storage.getStore()]));
  };
  return new Promise((resolve) => {
    const req = http.request(url, { method: body ? "POST" : "GET" });
    hear(req, "response", "error", "close");
    req.on("response", (response) => hear(response, "data", "end"));
    req.on("close", () => resolve(events));
    req.end(body);
  });
}

describe("what the application keeps in an AsyncLocalStorage is there", () => {
  let proxy, upstream, worker, attached;
  before(async () => {
    proxy = await startProxy();
    upstream = await startUpstream();
    worker = await startWorker(proxy.url);
    await worker.route("/mocked", (route) => route.text("mocked"));
    await worker.route("/continued", (route) => route.continue({ headers: { "x-new": "1" } }));
    await worker.route("/aborted", (route) => route.abort("failed"));
    await worker.route(
      "mocked-socket",
      (route) => route.say("ws:sendToPage", { data: "hello", isBase64: false }),
      "websocket",
    );
    attached = await startTrafficMock({ proxyUrl: proxy.url, webSocket: "all" });
  });
  after(async () => {
    await attached.stop();
    worker.close();
    await upstream.stop();
    await proxy.stop();
  });

  for (const path of ["passed", "mocked", "continued", "aborted"]) {
    test(`in the events of a request of node:http that is ${path}`, async () => {
      for (const body of ["", "some"]) {
        const events = await storage.run(path, () => eventsOf(`${upstream.url}/${path}`, body));
        assert.deepEqual([...new Set(events.map(([, stored]) => stored))], [path]);
        assert.ok(events.some(([name]) => name === (path === "aborted" ? "error" : "end")));
      }
    });

    test(`in the callback of an undici request that is ${path}`, async () => {
      const stored = await new Promise((resolve) => {
        storage.run(path, () => {
          request(`${upstream.url}/${path}`, (error, response) => {
            resolve(storage.getStore());
            response?.body?.dump().catch(() => {});
          });
        });
      });
      assert.equal(stored, path);
    });
  }

  test("in the messages of a mocked WebSocket", async () => {
    const stored = await new Promise((resolve) => {
      storage.run("ws", () => {
        const socket = new WebSocket("ws://nowhere.test/mocked-socket");
        socket.on("message", () => {
          resolve(storage.getStore());
          socket.close();
        });
      });
    });
    assert.equal(stored, "ws");
  });
});
