import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

const HANGS = { signal: AbortSignal.timeout(20000) };

describe("an upgrade to another protocol than that of WebSockets", () => {
  let proxy, server, agent, worker, url;
  /** The headers that reached the server. */
  let seen;
  before(async () => {
    proxy = await startProxy();
    server = http.createServer().on("upgrade", ({ headers }, socket) => {
      seen = headers;
      socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nfirst");
      socket.on("error", () => {}).on("data", (data) => socket.write(`echo ${data}`));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    url = `http://127.0.0.1:${server.address().port}`;
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url);
  });
  after(async () => {
    worker.close();
    await agent.stop();
    server.close();
    await proxy.stop();
  });

  const decisions = {
    passes: [(r) => r.continue(), undefined],
    continues: [(r) => r.continue({ headers: { ...r.request.headers, "x-new": "1" } }), "1"],
    "continues at a rate": [(r) => r.result({ action: "continue", rate: 1000 }), undefined],
  };
  for (const [how, [decide, added]] of Object.entries(decisions)) {
    test(`a request that ${how} goes on by it`, async () => {
      const path = `/${how.replaceAll(" ", "-")}`;
      await worker.route(path, decide);
      const req = http.request(url + path, {
        method: "POST",
        headers: { connection: "Upgrade", upgrade: "tcp" },
        agent: false,
      });
      req.end();
      const [answer, socket, head] = await once(req, "upgrade", HANGS);
      let text = String(head);
      socket.setEncoding("utf8").on("data", (data) => (text += data));
      socket.write("more");
      while (!text.includes("echo")) await once(socket, "data", HANGS);
      assert.deepEqual([answer.statusCode, text, seen["x-new"]], [101, "firstecho more", added]);
      const closed = once(socket, "close", HANGS);
      socket.destroy();
      await closed;
    });
  }

  test("the fetch of a handler fails", async () => {
    let error;
    await worker.route("/fetched", async (r) => {
      ({ error } = await r.fetch());
      r.text("mocked");
    });
    const req = http.get(`${url}/fetched`, { headers: { connection: "Upgrade", upgrade: "tcp" }, agent: false });
    const [answer] = await once(req, "response", HANGS);
    answer.resume();
    assert.match(error.message, /changed the protocol \(101\)/);
  });
});
