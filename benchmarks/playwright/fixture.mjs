/*
 * CPU and wall time of our test library in JavaScript and of the npm fixture 0.1.8, in turns, on the same proxy and
 * application:
 *
 *   TRAFFICMOCK_TEST_PYTHON=.venv/bin/python node benchmarks/playwright/fixture.mjs [ROUNDS]
 */
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startProxy } from "../../agent/test/lib/proxy.mjs";

const [rounds = "15"] = process.argv.slice(2);
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

const proxy = await startProxy();
const app = spawn(process.execPath, ["--require", file("../../agent/register.js"), file("app.mjs")], {
  env: { ...process.env, TRAFFICMOCK_PROXY_URL: proxy.url, TRAFFICMOCK_CLIENT_ID: "app" },
  stdio: ["ignore", "pipe", "inherit"],
});
const [port] = await once(app.stdout.setEncoding("utf8"), "data");
const appUrl = `http://127.0.0.1:${port.trim()}`;

const WHICH = ["ours", "npm"];
const sides = Object.fromEntries(WHICH.map((which) => [which, fork(file("side.mjs"), [which, proxy.url, appUrl])]));
const runs = { ours: [], npm: [] };
// In turns, so that other work of the machine affects both alike; the first round warms up.
for (let round = 0; round <= Number(rounds); round += 1) {
  for (const which of WHICH) {
    sides[which].send("measure");
    const [result] = await once(sides[which], "message");
    if (round > 0) runs[which].push(result);
  }
}
for (const which of WHICH) sides[which].disconnect();
app.kill();
await proxy.stop();

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const of = (which, row, what) => median(runs[which].map((run) => run[row][what]));
const ratio = (row, what) => median(runs.ours.map((run, round) => run[row][what] / runs.npm[round][row][what]));
const line = (cells) =>
  cells[0].padEnd(24) +
  cells
    .slice(1)
    .map((cell) => String(cell).padStart(10))
    .join("");
const lines = [
  `µs each, and the ratio of two in turn (medians of ${rounds} rounds), Node ${process.version}`,
  line(["", "ours CPU", "npm CPU", "ratio", "ours", "npm", "ratio"]),
];
for (const row of Object.keys(runs.ours[0])) {
  const cells = ["cpu", "wall"].flatMap((what) => [
    of("ours", row, what).toFixed(0),
    of("npm", row, what).toFixed(0),
    ratio(row, what).toFixed(2),
  ]);
  lines.push(line([row, ...cells]));
}
process.stdout.write(`${lines.join("\n")}\n`);
