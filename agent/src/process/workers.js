"use strict";

const { isAbsolute, resolve } = require("node:path");
const { fileURLToPath } = require("node:url");
const { syncBuiltinESMExports } = require("node:module");
const workers = require("node:worker_threads");
const { withNames } = require("./bundled-libraries.js");

/**
 * A worker thread reads `NODE_OPTIONS` from its own `env`. With another environment
 * (`new Worker(file, { env: {} })`) it would not load the preload, and its requests
 * would go to the real network. The code of a worker with the option `eval` runs before a
 * preload by `--import` is loaded, so such a worker gets one by `--require`; no function of `Module` or `node:vm` gets that
 * code, so libraries in it are changed before.
 */

const OURS = /^(TRAFFICMOCK|PLAYWRIGHT_BACKEND_MOCKS)_/;

/**
 * The variable by which a worker's preload knows the file or URL that the worker begins with: Node tells it later. It is set for
 * the moment in which Node copies the environment, and deleted before the worker's own code runs.
 */
const ENTRY = "TRAFFICMOCK_WORKER_ENTRY";

/** @returns {string | undefined} the file or URL `data:` that this worker thread begins with; known until it attaches its own workers */
const workerEntry = () => process.env[ENTRY];

/**
 * @param {any} file that a worker gets
 * @param {any} options
 * @returns {string | undefined} its path, or its URL if that has its text; none for code, and for what is Node's to refuse
 */
function pathOf(file, options) {
  if (options?.eval) return undefined;
  try {
    if (file instanceof URL) return file.protocol === "data:" ? file.href : fileURLToPath(file);
    return typeof file === "string" && (isAbsolute(file) || /^\.\.?[\\/]/.test(file)) ? resolve(file) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Attach worker threads from now on.
 * @param {string} preload path of the file that attaches a thread
 */
function attachWorkers(preload) {
  delete process.env[ENTRY];
  const word = `--require "${preload.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  const owner = /** @type {any} */ (workers);
  const Original = workers.Worker;
  const Attached = new Proxy(Original, {
    /** @returns {any} */
    construct(target, [file, options, ...rest], newTarget) {
      const given = withAgent(options, word);
      const code = options?.eval && typeof file === "string" ? withNames(file) : file;
      const entry = pathOf(file, options);
      const env = given?.env ?? process.env;
      if (entry && typeof env === "object") env[ENTRY] = entry;
      try {
        return Reflect.construct(target, [code, given, ...rest], newTarget === Attached ? target : newTarget);
      } finally {
        if (typeof env === "object") delete env[ENTRY];
      }
    },
  });
  owner.Worker = Attached;
  syncBuiltinESMExports();
}

/**
 * @param {any} options of a worker
 * @param {string} word the part of `NODE_OPTIONS` that loads the preload
 * @returns {any} the options, with trafficmock's variables added to an environment without them
 */
function withAgent(options, word) {
  const env = options?.env ?? (options?.eval ? process.env : undefined);
  if (!env || typeof env !== "object" || (env.TRAFFICMOCK_PROXY_URL && !options.eval)) return options;
  const ours = Object.fromEntries(Object.entries(process.env).filter(([name]) => OURS.test(name)));
  const given = String(env.NODE_OPTIONS ?? "");
  const nodeOptions = given.includes(word) ? given : `${given} ${word}`.trim();
  return { ...options, env: { ...ours, ...env, NODE_OPTIONS: nodeOptions } };
}

module.exports = { attachWorkers, workerEntry };
