import assert from "node:assert/strict";
import http from "node:http";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { HttpProxyAgent } from "http-proxy-agent";
import { startTrafficMock } from "../../index.mjs";
import { startProxy } from "../lib/proxy.mjs";

const ID = "0af7651916cd43dd8448eb211c80319c";
const COPIED = { baggage: `a=1,trafficmock.test=${ID}`, cookie: `a=1; trafficmock_test=${ID}`, "x-other": "kept" };

let proxy, tunnels, agent;
before(async () => {
  proxy = await startProxy();
  tunnels = http.createServer();
  await once(tunnels.listen(0, "127.0.0.1"), "listening");
  agent = await startTrafficMock({ proxyUrl: proxy.url });
});
after(async () => {
  await agent.stop();
  tunnels.close();
  await proxy.stop();
});

/** @returns {Promise<import('node:http').IncomingHttpHeaders>} what a proxy gets of a CONNECT with copied headers */
async function received(host) {
  const got = once(tunnels, "connect");
  const { port } = tunnels.address();
  const lookup = (_host, { all }, done) =>
    all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4);
  const req = http.request({ host, port, lookup, method: "CONNECT", path: "shop.example:443", headers: COPIED });
  req.on("error", () => {}).end();
  const [{ headers, url }, socket] = await got;
  socket.destroy();
  assert.equal(url, "shop.example:443");
  return headers;
}

test("a CONNECT of the application with copied headers does not give the context to a foreign proxy", async () => {
  const { baggage, cookie, "x-other": other } = await received("proxy.example");
  assert.deepEqual([baggage, cookie, other], ["a=1", "a=1", "kept"]);
});

test("a CONNECT of the application to a host under test keeps its headers", async () => {
  const { baggage, cookie } = await received("localhost");
  assert.deepEqual([baggage, cookie], [COPIED.baggage, COPIED.cookie]);
});

test("a head that http-proxy-agent writes anew does not give the context to a foreign host", async () => {
  const { port } = tunnels.address();
  tunnels.on("request", (req, res) => res.end(JSON.stringify([req.url, req.headers])));
  const httpAgent = new HttpProxyAgent(`http://127.0.0.1:${port}`);
  // The first one is asked about, the next one passes in the lease.
  for (const path of ["/asked", "/passed"]) {
    const url = `http://shop.example${path}`;
    const [response] = await once(http.get(url, { agent: httpAgent, headers: COPIED }), "response");
    const [asked, { baggage, cookie, "x-other": other }] = JSON.parse(Buffer.concat(await response.toArray()));
    assert.deepEqual([asked, baggage, cookie, other], [url, "a=1", "a=1", "kept"]);
  }
});
