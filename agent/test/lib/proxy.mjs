import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { mkdtempSync, readFileSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = resolve(fileURLToPath(import.meta.url), "../../../..");
const DEADLINE_MS = 20000;

/**
 * Start a real proxy: ours, from this checkout.
 * @param {...string} options of the command line
 * @returns {Promise<{ url: string, get(path: string): Promise<any>, stop(): Promise<void>, process: import('node:child_process').ChildProcess }>}
 */
export function startProxy(...options) {
  return startService(["-m", "trafficmock"], ...options);
}

/**
 * As above, with another way to start it.
 * @param {string[]} program what Python runs
 * @param {...string} options of the command line
 */
export async function startService(program, ...options) {
  const file = join(mkdtempSync(join(tmpdir(), "trafficmock-")), "ready.json");
  const python = process.env.TRAFFICMOCK_TEST_PYTHON ?? "python3";
  const port = options.includes("--port") ? [] : ["--port", "0"];
  const child = spawn(python, [...program, "serve", ...port, "--ready-file", file, ...options], {
    env: { ...process.env, PYTHONPATH: ROOT, NODE_OPTIONS: "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      said += data;
    });
  }
  for (const end = Date.now() + DEADLINE_MS; !existsSync(file);) {
    if (child.exitCode !== null || Date.now() > end) throw new Error(`the proxy did not start:\n${said}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { url } = JSON.parse(readFileSync(file, "utf8"));
  return { url, process: child, get: (path) => getJson(url + path), stop: () => stop(child), said: () => said };
}

/** @param {import('node:child_process').ChildProcess} child */
export function stop(child, signal = "SIGTERM") {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill(signal);
  });
}

async function getJson(url) {
  return (await fetch(url)).json();
}

/** Ask the proxy again until the answer satisfies; bounded. */
export async function until(proxy, path, test, ms = 3000) {
  for (const end = Date.now() + ms; ;) {
    const answer = await proxy.get(path);
    const found = test(answer);
    if (found) return found;
    if (Date.now() > end) throw new Error(`not seen at ${path}: ${JSON.stringify(answer).slice(0, 2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const E2E = join(ROOT, "tests/interop/npm/node/node_modules");

/** Start the npm proxy 0.1.8, which speaks protocol 3 and none of our features. */
export async function startNpmProxy() {
  const script = join(E2E, "@playwright-backend-mocks/proxy/dist/cli.cjs");
  if (!existsSync(script)) throw new Error("the npm proxy is missing; run: npm ci --prefix tests/interop/npm/node");
  // It takes no port 0, so somebody has to guess for it.
  const port = await new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
  const child = spawn(process.execPath, [script, "--port", String(port)], {
    env: { ...process.env, NODE_OPTIONS: "" },
    stdio: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  for (const end = Date.now() + DEADLINE_MS; !(await fetch(`${url}/health`).catch(() => undefined));) {
    if (child.exitCode !== null || Date.now() > end) throw new Error("the npm proxy did not start");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url, process: child, get: (path) => getJson(url + path), stop: () => stop(child) };
}
