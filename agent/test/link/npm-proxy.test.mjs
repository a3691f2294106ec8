import assert from "node:assert/strict";
import http from "node:http";
import { Readable } from "node:stream";
import { test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { startNpmProxy, until } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

test("the npm proxy 0.1.8 is served as well", async () => {
  const proxy = await startNpmProxy();
  const upstream = await startUpstream();
  const agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
  const worker = await startWorker(proxy.url);
  await worker.route("/mocked", (r) => r.text("from the test", { headers: { "x-mock": "1" } }));
  await worker.route("/changed", (r) => r.continue({ headers: { "x-new": "1" } }));
  await worker.route("/fetched", async (r) =>
    r.fulfill((await r.fetch({ overrides: { url: `${upstream.url}/gzip` } })).response),
  );
  await worker.route("/aborted", (r) => r.abort("connectionrefused"));

  assert.equal(await (await fetch("http://nowhere.test/mocked")).text(), "from the test");
  assert.match(await (await fetch(`${upstream.url}/changed`)).text(), /"x-new","1"/);
  assert.equal(await (await fetch("http://nowhere.test/fetched")).text(), "packed text");
  await assert.rejects(fetch("http://nowhere.test/aborted"), (error) => error.cause.code === "ECONNREFUSED");
  assert.match(await (await fetch(`${upstream.url}/redirect`)).text(), /"\/echo"/);
  await worker.route("/uploaded", (r) => r.text(Buffer.from(r.request.bodyBase64, "base64")));
  const body = Readable.toWeb(Readable.from([Buffer.from("in two "), Buffer.from("pieces")]));
  assert.equal(
    await (await fetch("http://nowhere.test/uploaded", { method: "POST", body, duplex: "half" })).text(),
    "in two pieces",
  );
  const events = (await fetch(`${upstream.url}/steps`)).body[Symbol.asyncIterator]();
  assert.equal(Buffer.from((await events.next()).value).toString(), "data: 1\n\n");
  upstream.step();
  assert.equal(Buffer.from((await events.next()).value).toString(), "data: 2\n\n");
  const status = await new Promise((resolve) =>
    http.get(`${upstream.url}/204`, (response) => resolve(response.resume().statusCode)),
  );
  assert.equal(status, 204);
  const rows = await until(
    proxy,
    "/api/history",
    ({ entries }) =>
      entries.length === 9 && entries.every(({ outcome }) => outcome.kind === "aborted" || outcome.response) && entries,
  );
  const hop = rows.find(({ redirectedFromId }) => redirectedFromId);
  assert.equal(rows.find(({ id }) => id === hop.redirectedFromId).outcome.response.status, 302);

  worker.close();
  await agent.stop();
  await upstream.stop();
  await proxy.stop();
});
