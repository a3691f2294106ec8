"use strict";

const { syncBuiltinESMExports } = require("node:module");
const workers = require("node:worker_threads");

/**
 * A worker thread reads `NODE_OPTIONS` from its own `env`. With another environment
 * (`new Worker(file, { env: {} })`) it would not load the preload, and its requests
 * would go to the real network. The code of a worker with the option `eval` runs before a
 * preload by `--import` is loaded, so such a worker gets one by `--require`.
 */

const OURS = /^(TRAFFICMOCK|PLAYWRIGHT_BACKEND_MOCKS)_/;

/**
 * Attach worker threads from now on.
 * @param {string} preload path of the file that attaches a thread
 */
function attachWorkers(preload) {
  const word = `--require "${preload.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  const owner = /** @type {any} */ (workers);
  const Original = workers.Worker;
  const Attached = new Proxy(Original, {
    /** @returns {any} */
    construct(target, [file, options, ...rest], newTarget) {
      return Reflect.construct(
        target,
        [file, withAgent(options, word), ...rest],
        newTarget === Attached ? target : newTarget,
      );
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

module.exports = { attachWorkers };
