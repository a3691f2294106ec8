"use strict";

const childProcess = require("node:child_process");
const { syncBuiltinESMExports } = require("node:module");
const workers = require("node:worker_threads");

/**
 * The variables that send programs through trafficmock's own forward proxy are
 * meant for those that are not Node. In an attached process they would only
 * change clients that look at them (axios takes an agent without keep-alive,
 * OpenTelemetry sees requests to the proxy), so they are taken out of its
 * environment and given to the programs that it starts.
 */

const NAMES = /^(https?|wss?|all)_proxy$/i;

/** Of `setEnvironmentData`: every worker thread gets a copy, whatever its `env` is. */
const KEY = "trafficmock.proxyVariables";

const SYNC = /** @type {const} */ (["spawnSync", "execSync", "execFileSync"]);

/**
 * @param {import('./agent.js').Agent} agent that knows which proxy is trafficmock's
 * @returns {() => void} undoes it
 */
function hideProxyVariables(agent) {
  const own = Object.entries(process.env).filter(([name, value]) => NAMES.test(name) && agent.hosts.isProxyText(value));
  const inherited = /** @type {any} */ (workers.getEnvironmentData(KEY));
  /** @type {Record<string, string>} */
  const hidden = { ...inherited, ...Object.fromEntries(own) };
  if (Object.keys(hidden).length === 0) return () => {};
  for (const [name] of own) delete process.env[name];
  workers.setEnvironmentData(KEY, /** @type {any} */ (hidden));
  const undo = [hookSpawn(hidden), ...SYNC.map((name) => hookSync(name, hidden))];
  syncBuiltinESMExports();
  return () => {
    for (const act of undo) act();
    syncBuiltinESMExports();
    workers.setEnvironmentData(KEY, inherited);
    for (const [name, value] of own) process.env[name] ??= value;
  };
}

/**
 * `spawn`, `exec`, `execFile` and `fork` all end here.
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
  const { spawn: hooked } = owner;
  return () => {
    if (owner.spawn === hooked) owner.spawn = original;
  };
}

/**
 * @param {typeof SYNC[number]} name
 * @param {Record<string, string>} hidden
 */
function hookSync(name, hidden) {
  const owner = /** @type {any} */ (childProcess);
  const original = owner[name];
  const hooked = {
    [name]: function (/** @type {any[]} */ ...args) {
      return original.apply(this, withVariables(args, hidden));
    },
  }[name];
  owner[name] = hooked;
  return () => {
    if (owner[name] === hooked) owner[name] = original;
  };
}

/**
 * @param {any[]} args of a synchronous call: a command, perhaps a list of words, perhaps options
 * @param {Record<string, string>} hidden
 * @returns {any[]} the same with the variables, where that environment attaches a process
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
