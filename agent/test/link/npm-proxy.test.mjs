import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { REQUIRE, startNode } from "../lib/child.mjs";
import { HELLO_OK, startFakeProxy } from "../lib/fake-proxy.mjs";
import { startNpmProxy } from "../lib/proxy.mjs";
import { deferred } from "../lib/streams.mjs";
import { startUpstream } from "../lib/upstream.mjs";

const { version } = createRequire(import.meta.url)("../../package.json");

const other = (url, found, missing) =>
  `What answers at ${url} is another proxy than trafficmock, or an older one (version ${found}): it lacks ${missing}, ` +
  `which this agent needs. Start trafficmock ${version} there ("trafficmock serve").`;

test("the npm proxy 0.1.8 is refused, with the remedy", async () => {
  const proxy = await startNpmProxy();
  await assert.rejects(startTrafficMock({ proxyUrl: proxy.url }), {
    code: "ERR_TRAFFICMOCK_PROTOCOL_MISMATCH",
    message: other(proxy.url, "0.1.0", "headers-list, stream, context, strict"),
  });
  await proxy.stop();
});

test("under the preload it is refused once on stderr, and no request gets past", async () => {
  const { features: _, ...hello } = HELLO_OK;
  const tries = [];
  const { promise: isTriedAgain, resolve } = deferred();
  const proxy = await startFakeProxy(hello, ({ type }) => {
    if (type === "hello" && tries.push(type) === 3) resolve();
    return [];
  });
  const upstream = await startUpstream();
  const app = await startNode(
    `process.on("message", (url) => fetch(url).then(() => "passed", (error) => error.cause.code).then((said) => process.send(said)))`,
    { NODE_OPTIONS: REQUIRE, TRAFFICMOCK_PROXY_URL: proxy.url },
  );
  app.send(upstream.url);
  assert.equal(await app.next(), "ERR_TRAFFICMOCK_PROTOCOL_MISMATCH");
  await isTriedAgain;
  app.send(upstream.url);
  assert.equal(await app.next(), "ERR_TRAFFICMOCK_PROTOCOL_MISMATCH");
  const { stderr } = app.said();
  assert.equal(stderr.split(other(proxy.url, "0", "headers-list, stream, context, strict")).length, 2, stderr);
  await app.stop();
  await upstream.stop();
  await proxy.stop();
});

test("a proxy that lacks one thing is refused, by its name", async () => {
  const proxy = await startFakeProxy({ ...HELLO_OK, packageVersion: "1.2.3", features: ["headers-list", "context"] });
  await assert.rejects(startTrafficMock({ proxyUrl: proxy.url }), {
    message: other(proxy.url, "1.2.3", "stream, strict"),
  });
  await proxy.stop();
});
