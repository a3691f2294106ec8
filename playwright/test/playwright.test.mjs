/* The fixtures in the real Playwright, with the real proxy, a real application and Chromium. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { freePort, makeProject } from "./lib/project.mjs";
import { results } from "./lib/results.mjs";

const chromium = process.env.E2E_CHROMIUM ?? "/usr/bin/chromium";

async function run(project, args, env = {}) {
  const proxyUrl = `http://127.0.0.1:${await freePort()}`;
  const ports = { TRAFFICMOCK_PROXY_URL: proxyUrl, SHOP_PORT: String(await freePort()) };
  const config = ["--config", "apps/playwright.config.mjs", ...args];
  return results(await project.run(config, { E2E_CHROMIUM: chromium, ...ports, ...env }));
}

test("tests side by side on one application each get their own answers", async () => {
  const project = makeProject({ specs: "shop" });
  after(project.remove);
  const ended = await run(project, [], { WORKERS: "3", ROUNDS: "3" });
  assert.deepEqual(ended.failed, []);
  assert.equal(ended.passed.length, 9);
});

test("without isolation they meet", async () => {
  const project = makeProject({ specs: "shop" });
  after(project.remove);
  const ended = await run(project, [], { WORKERS: "3", ROUNDS: "3", ISOLATION: "off" });
  assert.match(ended.failed.join("\n"), /Ambiguous backend mock routing/);
});
