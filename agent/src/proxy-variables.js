"use strict";

const childProcess = require("node:child_process");
const { syncBuiltinESMExports } = require("node:module");
const workers = require("node:worker_threads");

/**
 * The variables that make programs use trafficmock's forward proxy are for programs
 * other than Node. In an attached process they would change clients that read
 * them: axios would use an agent without keep-alive, and OpenTelemetry would see
 * requests to the proxy. So they are removed from the environment of the process
 * and added to that of the programs that it starts. Bun and Deno keep them: their own `fetch`
 * is not intercepted, and needs them.
 */

const NAMES = /^(https?|wss?|all)_proxy$/i;

/** The key of `setEnvironmentData`, of which every worker thread gets a copy, whatever its `env` is. */
const KEY = "trafficmock.proxyVariables";

const SYNC = /** @type {const} */ (["spawnSync", "execSync", "execFileSync"]);

/**
 * Remove the variables from this process, and add them to attached child processes.
 * @param {import('./agent.js').Agent} agent knows the URL of trafficmock's proxy
 */
function hideProxyVariables(agent) {
  if (process.versions.bun || process.versions.deno) return;
  const own = Object.entries(process.env).filter(([name, value]) => NAMES.test(name) && agent.hosts.isProxyText(value));
  const inherited = /** @type {any} */ (workers.getEnvironmentData(KEY));
  /** @type {Record<string, string>} */
  const hidden = { ...inherited, ...Object.fromEntries(own) };
  if (Object.keys(hidden).length === 0) return;
  for (const [name] of own) delete process.env[name];
  workers.setEnvironmentData(KEY, /** @type {any} */ (hidden));
  hookSpawn(hidden);
  for (const name of SYNC) hookSync(name, hidden);
  syncBuiltinESMExports();
}

/**
 * Add the variables to programs that `spawn`, `exec`, `execFile` and `fork` start: all of these call this method.
 * @param {Record<string, string>} hidden
 */
function hookSpawn(hidden) {
  const owner = /** @type {any} */ (childProcess.ChildProcess.prototype);
  const original = owner.spawn;
  owner.spawn = function spawn(/** @type {any} */ options) {
    const pairs = options?.envPairs;
    if (!Array.isArray(pairs) || !pairs.some((pair) => pair.startsWith("TRAFFICMOCK_PROXY_URL="))) {
      return original.call(this, options);
    }
    const missing = Object.entries(hidden).filter(([name]) => !pairs.some((pair) => pair.startsWith(`${name}=`)));
    return original.call(this, {
      ...options,
      envPairs: [...pairs, ...missing.map(([name, value]) => `${name}=${value}`)],
    });
  };
}

/**
 * Add the variables to programs that a synchronous function starts.
 * @param {typeof SYNC[number]} name
 * @param {Record<string, string>} hidden
 */
function hookSync(name, hidden) {
  const owner = /** @type {any} */ (childProcess);
  const original = owner[name];
  owner[name] = {
    [name]: function (/** @type {any[]} */ ...args) {
      return original.apply(this, withVariables(args, hidden));
    },
  }[name];
}

/**
 * @param {any[]} args of a synchronous call: a command, perhaps a list of arguments, perhaps options
 * @param {Record<string, string>} hidden
 * @returns {any[]} the arguments with the variables added, if the environment attaches the process
 */
function withVariables(args, hidden) {
  const at = args.findIndex((arg, index) => index > 0 && arg && typeof arg === "object" && !Array.isArray(arg));
  const options = at < 0 ? {} : args[at];
  const env = options.env ?? process.env;
  if (!env.TRAFFICMOCK_PROXY_URL) return args;
  const changed = { ...options, env: { ...hidden, ...env } };
  return at < 0 ? [...args.filter((arg) => arg != null), changed] : args.with(at, changed);
}

module.exports = { hideProxyVariables };
