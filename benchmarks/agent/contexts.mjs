/*
 * CPU of an attached application for the context of a test on inbound requests: requests with and
 * without a context, in turns, to the same process. For each, the application sends one request
 * to an upstream, which passes through.
 *
 *   TRAFFICMOCK_TEST_PYTHON=.venv/bin/python node benchmarks/agent/contexts.mjs [NODE [ROUNDS]]
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import http from "node:http";
import { createRequire } from "node:module";
import { startProxy } from "../../agent/test/lib/proxy.mjs";
import { startWorker } from "../../agent/test/lib/worker.mjs";

const [node = process.execPath, rounds = "15"] = process.argv.slice(2);
const REGISTER = createRequire(import.meta.url).resolve("../../agent/register.js");
const COUNT = 500;
const ID = randomBytes(16).toString("hex");
const CARRIED = { without: {}, with: { baggage: `trafficmock.test=${ID}` } };

/** An application that sends a request to the upstream for each of its own, and reports its CPU time. */
const APPLICATION = `
  const http = require("node:http");
  http.createServer(async (req, res) => {
    if (req.url === "/cpu") return res.end(JSON.stringify(process.cpuUsage()));
    res.end(await (await fetch(process.env.UPSTREAM)).text());
  }).listen(0, "127.0.0.1", function () { process.send(this.address().port); });`;

const proxy = await startProxy("--history-capture", "none");
const worker = await startWorker(proxy.url, { context: ID });
const upstream = http.createServer((request, response) => response.end('{"a":1}')).listen(0, "127.0.0.1");
await new Promise((resolve) => upstream.once("listening", resolve));
const child = spawn(node, ["--require", REGISTER, "-e", APPLICATION], {
  env: {
    ...process.env,
    TRAFFICMOCK_PROXY_URL: proxy.url,
    UPSTREAM: `http://127.0.0.1:${upstream.address().port}/`,
  },
  stdio: ["ignore", "inherit", "inherit", "ipc"],
});
const port = await new Promise((resolve) => child.once("message", resolve));

const agent = new http.Agent({ keepAlive: true });
const get = (path, headers) =>
  new Promise((resolve, reject) => {
    http
      .get({ host: "127.0.0.1", port, path, agent, headers }, async (response) => {
        resolve((await response.toArray()).join(""));
      })
      .on("error", reject);
  });
const cpu = async () => {
  const { user, system } = JSON.parse(await get("/cpu", {}));
  return user + system;
};

/** @returns {Promise<number>} CPU µs of one request */
async function measure(headers) {
  const before = await cpu();
  for (let i = 0; i < COUNT; i += 1) await get("/", headers);
  return ((await cpu()) - before) / COUNT;
}

for (const headers of Object.values(CARRIED)) for (let i = 0; i < 4; i += 1) await measure(headers);
const taken = { without: [], with: [] };
for (let round = 0; round < Number(rounds); round += 1) {
  const names = Object.keys(CARRIED);
  // Each goes first in half of the rounds.
  for (const name of round % 2 ? names.reverse() : names) taken[name].push(await measure(CARRIED[name]));
}
child.kill();
upstream.closeAllConnections();
upstream.close();
worker.close();
agent.destroy();
await proxy.stop();

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const ratios = taken.with.map((one, at) => one / taken.without[at]);
process.stdout.write(
  `CPU of the application, µs per request (medians of ${rounds} × ${COUNT}), ${node}: ` +
    `without a context ${median(taken.without).toFixed(0)}, with one ${median(taken.with).toFixed(0)}, ` +
    `ratio of neighbours ${median(ratios).toFixed(3)}\n`,
);
