/* Playwright's UI mode, and a test that is paused by its debugger. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { connect } from "../../core.mjs";
import { freePort, runProgram } from "../lib/project.mjs";
import { CHROMIUM, beginFixtures } from "../lib/run-fixtures.mjs";

const PLAYWRIGHT = fileURLToPath(new URL("../../node_modules/playwright-core/package.json", import.meta.url));
const { chromium } = createRequire(PLAYWRIGHT)("playwright-core");
/** Of Playwright's debugger, which is no part of its API. */
const DEBUGGER = join(dirname(PLAYWRIGHT), "lib/tools/cli-client/cli.js");
/** What a test waits for takes long on a busy machine. */
const LONG = { timeout: 120_000 };

test("UI mode runs tests, and runs them again", async (t) => {
  const port = await freePort();
  const args = ["--ui-host=127.0.0.1", `--ui-port=${port}`, "parallel.spec.mjs"];
  const run = await beginFixtures(args, { WORKERS: "2", ROUNDS: "1" });
  t.after(run.stop);
  const [, url] = await run.said(/Listening on (\S+)/);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(url);
  const status = page.getByTestId("status-line");
  for (const _ of ["once", "again"]) {
    await page.getByTitle("Run all").click(LONG);
    await status.filter({ hasText: /^Running/ }).waitFor(LONG);
    await status.filter({ hasText: /^3\/3 \(100%\) — 3 passed$/ }).waitFor(LONG);
  }
});

test("a test that is paused by a debugger harms nobody, and goes on", async (t) => {
  const limits = "--heartbeat-ms 100 --idle-timeout-ms 400 --claim-timeout-ms 400";
  const run = await beginFixtures(["--debug=cli", "--reporter=line"], { PROXY_ARGS: limits }, { specs: "debugged" });
  t.after(run.stop);
  const [, session] = await run.said(/playwright-cli attach (\S+)"/);
  const debug = (...words) => runProgram(run.place, [process.execPath, DEBUGGER, ...words], run.env);
  assert.match((await debug("attach", session)).output, /Navigate .* at .*debugged\.spec\.mjs:6/);
  await debug(`-s=${session}`, "pause-at", "debugged.spec.mjs:7");
  const shop = `http://127.0.0.1:${run.env.SHOP_PORT}`;
  const mocks = await connect({ title: "goes on", proxyUrl: run.env.TRAFFICMOCK_PROXY_URL, baseURL: shop });
  await mocks.route("**/price/*", (route) => route.fulfill({ json: { price: 9 } }));
  for (let round = 0; round < 4; round += 1) {
    assert.match(await (await fetch(`${shop}/price/cup`, { headers: mocks.headers })).text(), />9</);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await mocks.end();
  await debug(`-s=${session}`, "resume");
  assert.equal(await run.ended, 0, run.output());
  assert.match(run.output(), /1 passed/);
});
