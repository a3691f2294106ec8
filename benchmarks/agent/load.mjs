/*
 * One attached process under load: node load.mjs ours|asking|theirs|none PROXY UPSTREAM PROXY_PID.
 * Prints one JSON line: for each kind of request the wall time, the CPU and the proxy's CPU of
 * 1,000 requests in ms, with the median wall time of one in µs, and for `memory` the growth in MiB
 * over 20,000 requests.
 */
import { readFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";

/** So many that V8 has compiled what they run. */
const WARM = 3000;
const COUNT = 1000;
const MANY = 20000;
const MIB = 2 ** 20;

const [which, proxyUrl, upstream, proxyPid] = process.argv.slice(2);
const require = createRequire(import.meta.url);

if (which === "ours" || which === "asking") {
  await require("../../agent/src/index.js").startTrafficMock({ proxyUrl, clientId: "load" });
}
if (which === "theirs") {
  // Its CommonJS build throws an error when it is loaded.
  const npm = await import(
    new URL("../../tests/interop/npm/node/node_modules/@playwright-backend-mocks/node/dist/index.js", import.meta.url)
  );
  await npm.startBackendMocks({ proxyUrl, clientId: "load" });
}

const agent = new http.Agent({ keepAlive: true });
const get = (url) =>
  new Promise((resolve, reject) => {
    http.get(url, { agent }, (response) => response.resume().on("end", resolve)).on("error", reject);
  });
const kinds = {
  "fetch, passed": () => fetch(`${upstream}/x`).then((response) => response.text()),
  "fetch, mocked": () => fetch(`${upstream}/mocked`).then((response) => response.text()),
  "node:http, passed": () => get(`${upstream}/x`),
  "node:http, mocked": () => get(`${upstream}/mocked`),
};

/** @returns {Promise<number[]>} how long each took; ms */
async function times(count, act) {
  const took = [];
  for (let i = 0; i < count; i += 1) {
    const started = performance.now();
    await act();
    took.push(performance.now() - started);
  }
  return took;
}

/** @returns {number} the proxy's CPU time so far; ms, in ticks of 10 ms */
function proxyCpu() {
  const fields = readFileSync(`/proc/${proxyPid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const result = {};
for (const [kind, act] of Object.entries(kinds)) {
  await times(WARM, act);
  const [started, cpu, proxy] = [performance.now(), process.cpuUsage(), proxyCpu()];
  const took = await times(COUNT, act);
  const { user, system } = process.cpuUsage(cpu);
  const p50 = 1000 * took.sort((a, b) => a - b)[COUNT / 2];
  result[kind] = { ms: performance.now() - started, p50, cpu: (user + system) / 1000, proxy: proxyCpu() - proxy };
}
if (process.env.MEMORY) {
  globalThis.gc();
  const before = process.memoryUsage();
  await times(MANY, kinds["fetch, passed"]);
  globalThis.gc();
  const now = process.memoryUsage();
  result.memory = { heap: (now.heapUsed - before.heapUsed) / MIB, rss: (now.rss - before.rss) / MIB };
}
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit();
