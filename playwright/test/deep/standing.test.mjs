/* A test that stands still at a breakpoint harms nobody. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { connect } from "../../core.mjs";
import { startProxy } from "../../../agent/test/lib/proxy.mjs";
import { startShop } from "../lib/shop.mjs";

const STANDING = fileURLToPath(new URL("../apps/standing.mjs", import.meta.url));
const WS_FROM = fileURLToPath(new URL("../../../agent/package.json", import.meta.url));
/** Of 256 KiB each: more than the kernel takes for a process that does not read, and less than the queue's limit. */
const FRAMES = "128";

test("frames that a test at a breakpoint does not take hold up no request of others", async (t) => {
  const proxy = await startProxy();
  t.after(() => proxy.stop());
  const shop = await startShop(proxy.url, { app: "chat", env: { FRAMES, WS_FROM, TRAFFICMOCK_WEBSOCKET: "all" } });
  t.after(() => shop.stop());
  const env = { ...process.env, TRAFFICMOCK_PROXY_URL: proxy.url, FRAMES, STANDS_MS: "12000" };
  const standing = spawn(process.execPath, [STANDING], { env, stdio: ["pipe", "pipe", "inherit"] });
  const headers = JSON.parse((await once(standing.stdout, "data"))[0]);
  assert.equal(await (await fetch(`${shop.url}/open`, { headers })).text(), "connected");
  standing.stdin.end("stand");
  await once(standing.stdout, "data");

  const mocks = await connect({ title: "goes on", proxyUrl: proxy.url, baseURL: shop.url });
  await mocks.route("http://prices.example/**", (route) => route.fulfill({ body: "7" }));
  await fetch(`${shop.url}/flood`);
  for (let round = 0; round < 3; round += 1) {
    const signal = AbortSignal.timeout(8000);
    assert.equal(await (await fetch(`${shop.url}/price`, { headers: mocks.headers, signal })).text(), "7");
  }
  assert.equal(standing.exitCode, null, "it still stands");
  await mocks.end();
  // Once it goes on it gets all that was sent.
  assert.deepEqual(await once(standing, "exit"), [0, null]);
});
