/*
 * The time and CPU that the agent adds to a request, compared with the npm agent and with itself
 * without local decisions, in turns on one proxy. Also the proxy's CPU for a request:
 *
 *   TRAFFICMOCK_TEST_PYTHON=.venv/bin/python node benchmarks/agent/cost.mjs [NODE [ROUNDS]]
 *
 * The npm agent needs Node 22. MEMORY=1 adds the growth over 20,000 requests.
 */
import { spawn } from "node:child_process";
import http from "node:http";
import { fileURLToPath } from "node:url";
import { startProxy } from "../../agent/test/lib/proxy.mjs";
import { startWorker } from "../../agent/test/lib/worker.mjs";

const [node = process.execPath, rounds = "5"] = process.argv.slice(2);
const LOAD = fileURLToPath(new URL("load.mjs", import.meta.url));

const proxy = await startProxy();
const worker = await startWorker(proxy.url, { features: ["subscribe"] });
await worker.routeGlob("**/mocked", (route) => route.text("mocked"));
const upstream = http.createServer((request, response) => response.end('{"a":1}')).listen(0, "127.0.0.1");
await new Promise((resolve) => upstream.once("listening", resolve));
const upstreamUrl = `http://127.0.0.1:${upstream.address().port}`;

/** @returns {Promise<any>} the figures of one process of load.mjs */
function measure(which) {
  const child = spawn(node, ["--expose-gc", LOAD, which, proxy.url, upstreamUrl, String(proxy.process.pid)], {
    env: { ...process.env, TRAFFICMOCK_LOCAL: which === "asking" ? "0" : "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (data) => {
    text += data;
  });
  return new Promise((resolve, reject) =>
    child.on("close", (status) =>
      status === 0 ? resolve(JSON.parse(text)) : reject(new Error(`${which} ended with ${status}`)),
    ),
  );
}

const runs = { none: [], ours: [], asking: [], theirs: [] };
for (let round = 0; round < Number(rounds); round += 1) {
  // In turns, so that other work of the machine affects all alike.
  for (const which of Object.keys(runs)) runs[which].push(await measure(which));
}
upstream.closeAllConnections();
upstream.close();
worker.close();
await proxy.stop();

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const of = (which, kind, what) => median(runs[which].map((run) => run[kind][what]));
const lines = [
  `added per request, µs (median of ${rounds}), Node ${node}`,
  `${"".padEnd(30)}${["ours", "asking", "npm", "ratio"].map((word) => word.padStart(10)).join("")}`,
];
const TITLES = { ms: "wall", p50: "wall, p50", cpu: "CPU", proxy: "proxy CPU" };
for (const kind of Object.keys(runs.none[0]).filter((name) => name !== "memory")) {
  for (const [what, title] of Object.entries(TITLES)) {
    // A mock replaces the request, so the time without an agent is not subtracted.
    const base = kind.endsWith("passed") && what !== "proxy" ? of("none", kind, what) : 0;
    const [ours, asking, theirs] = ["ours", "asking", "theirs"].map((which) => of(which, kind, what) - base);
    const cells = [ours.toFixed(0), asking.toFixed(0), theirs.toFixed(0), (ours / theirs).toFixed(2)];
    lines.push(`${kind}, ${title}`.padEnd(30) + cells.map((cell) => cell.padStart(10)).join(""));
  }
}
if (runs.ours[0].memory) {
  lines.push(
    `memory over 20,000 requests, MiB: heap ${of("ours", "memory", "heap").toFixed(1)} (npm ${of("theirs", "memory", "heap").toFixed(1)}), rss ${of("ours", "memory", "rss").toFixed(1)} (npm ${of("theirs", "memory", "rss").toFixed(1)})`,
  );
}
process.stdout.write(`${lines.join("\n")}\n`);
