/*
 * One test library, `ours` or `npm`, without Playwright's runner: side.mjs WHICH PROXY_URL APP_URL, forked.
 * It answers each message with the CPU (user and system, µs) and the wall time (µs) of a mocked request, and of the
 * start and end of a test.
 */
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const [which, proxyUrl, appUrl] = process.argv.slice(2);
const REQUESTS = 500;
const TESTS = 100;

const begin = await { ours, npm }[which]();
process.on("message", async () => process.send(await results()));
process.on("disconnect", () => process.exit());

async function results() {
  const mocked = await begin("mocked");
  await mocked.route("http://prices.example/**", (route) => route.fulfill({ json: { price: 1 } }));
  const result = {
    "mocked, one at a time": await measure(REQUESTS, () => run(REQUESTS, 1)),
    "mocked, 16 at once": await measure(REQUESTS, () => run(REQUESTS, 16)),
  };
  await mocked.end();
  result["a test with a route"] = await measure(TESTS, () => tests(TESTS));
  return result;
}

async function ours() {
  const { connect } = await import("../../playwright/core.mjs");
  return (title) => connect({ title, proxyUrl });
}

async function npm() {
  const require = createRequire(fileURLToPath(new URL("../../tests/interop/npm/node/package.json", import.meta.url)));
  const { connectPlaywrightProxy, createBackendMocks } = require("@playwright-backend-mocks/playwright");
  const connection = await connectPlaywrightProxy({ proxyUrl, workerId: "0" });
  return async (title) => {
    const testId = randomUUID();
    const registered = new Promise((resolve) => {
      const stop = connection.onMessage((message) => {
        if (message.type !== "test:registered" || message.testId !== testId) return;
        stop();
        resolve();
      });
    });
    connection.send({ type: "test:register", testId, title, file: "side.mjs", workerId: "0" });
    await registered;
    const mocks = createBackendMocks({ connection, testId });
    return Object.assign(mocks, { end: () => mocks.dispose() });
  };
}

async function run(count, together) {
  await (await fetch(`${appUrl}/run?count=${count}&together=${together}`)).text();
}

async function tests(count) {
  for (let left = count; left > 0; left -= 1) {
    const mocks = await begin(`test ${left}`);
    await mocks.route("http://prices.example/**", (route) => route.fulfill({ json: { price: 1 } }));
    await mocks.end();
  }
}

async function measure(count, act) {
  const [cpu, wall] = [process.cpuUsage(), performance.now()];
  await act();
  const { user, system } = process.cpuUsage(cpu);
  return { cpu: (user + system) / count, wall: ((performance.now() - wall) * 1000) / count };
}
