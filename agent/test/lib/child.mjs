import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { stop } from "./proxy.mjs";

const AGENT = resolve(fileURLToPath(import.meta.url), "../../..");

/** The preload, as NODE_OPTIONS wants it. */
export const REQUIRE = `--require "${AGENT}/register.js"`;
export const IMPORT = `--import "file://${AGENT}/register.js"`;

/**
 * Run a script in a Node of its own, under the preload.
 * @param {string} code CommonJS, or ESM with `module: true`
 * @param {{ env?: Record<string, string>, module?: boolean, preload?: string, ms?: number, cwd?: string }} options
 * @returns {Promise<{ stdout: string, stderr: string, status: number | null, ms: number }>}
 */
export function runNode(code, { env = {}, module = false, preload = REQUIRE, ms = 15000, cwd } = {}) {
  const started = Date.now();
  const child = spawn(process.execPath, [...(module ? ["--input-type=module"] : []), "-e", code], {
    cwd: cwd ?? AGENT,
    env: { ...process.env, NODE_OPTIONS: preload, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: ms,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data) => {
    stdout += data;
  });
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  return new Promise((resolve) =>
    child.on("close", (status) => resolve({ stdout, stderr, status, ms: Date.now() - started })),
  );
}

/**
 * Start a script that goes on, and speaks with `process.send`.
 * @param {string} code CommonJS
 * @param {Record<string, string>} env
 * @returns {Promise<{ next(): Promise<any>, send(message: object): void, signal(name: string): void, stop(signal?: string): Promise<void>, said(): object }>}
 *   `next` gives its messages in turn; `said` what it printed, and the messages nobody asked for
 */
export const startNode = (code, env) => startWords(["-e", code], env);

/** As above, with a file: what it forks has its `execArgv`, in which code would be. */
export const startFile = (file, env) => startWords([file], env);

async function startWords(words, env) {
  const child = spawn(process.execPath, words, {
    cwd: AGENT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const printed = { stdout: "", stderr: "" };
  for (const name of /** @type {const} */ (["stdout", "stderr"])) {
    child[name].on("data", (data) => {
      printed[name] += data;
    });
  }
  const messages = [];
  const waiting = [];
  child.on("message", (message) => (waiting.shift()?.resolve ?? messages.push.bind(messages))(message));
  child.on("exit", () => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`the script ended: ${printed.stderr}`));
  });
  return {
    next: () =>
      messages.length
        ? Promise.resolve(messages.shift())
        : new Promise((resolve, reject) => waiting.push({ resolve, reject })),
    send: (message) => child.send(message),
    signal: (name) => child.kill(name),
    stop: (signal) => stop(child, signal),
    said: () => ({ ...printed, messages }),
  };
}
