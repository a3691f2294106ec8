/*
 * What a test side costs, ours against the npm fixture 0.1.8, in turns, on the same proxy and application:
 *
 *   TRAFFICMOCK_TEST_PYTHON=.venv/bin/python node benchmarks/playwright/fixture.mjs [ROUNDS]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startProxy } from "../../agent/test/lib/proxy.mjs";

const [rounds = "5"] = process.argv.slice(2);
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

const proxy = await startProxy();
const app = spawn(process.execPath, ["--require", file("../../agent/register.js"), file("app.mjs")], {
  env: { ...process.env, TRAFFICMOCK_PROXY_URL: proxy.url, TRAFFICMOCK_CLIENT_ID: "app" },
  stdio: ["ignore", "pipe", "inherit"],
});
const [port] = await once(app.stdout.setEncoding("utf8"), "data");
const appUrl = `http://127.0.0.1:${port.trim()}`;

async function measure(which) {
  const child = spawn(process.execPath, [file("side.mjs"), which, proxy.url, appUrl], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (data) => (text += data));
  const [status] = await once(child, "close");
  if (status !== 0) throw new Error(`${which} ended with ${status}`);
  return JSON.parse(text);
}

const runs = { ours: [], npm: [] };
// In turns, so that what else the machine does hits both alike.
for (let round = 0; round < Number(rounds); round += 1) {
  for (const which of Object.keys(runs)) runs[which].push(await measure(which));
}
app.kill();
await proxy.stop();

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const of = (which, row, what) => median(runs[which].map((run) => run[row][what]));
const line = (cells) =>
  cells[0].padEnd(24) +
  cells
    .slice(1)
    .map((cell) => String(cell).padStart(10))
    .join("");
const lines = [
  `µs each (median of ${rounds} rounds), Node ${process.version}`,
  line(["", "ours CPU", "npm CPU", "ratio", "ours", "npm", "ratio"]),
];
for (const row of Object.keys(runs.ours[0])) {
  const cells = ["cpu", "wall"].flatMap((what) => {
    const [ours, npm] = [of("ours", row, what), of("npm", row, what)];
    return [ours.toFixed(0), npm.toFixed(0), (ours / npm).toFixed(2)];
  });
  lines.push(line([row, ...cells]));
}
process.stdout.write(`${lines.join("\n")}\n`);
