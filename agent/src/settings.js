"use strict";

const { readFileSync } = require("node:fs");
const { dirname, join, sep } = require("node:path");
const { threadId, isMainThread } = require("node:worker_threads");
const { normalPattern } = require("./host-pattern.js");

/**
 * Where the settings come from: options of the call, then the environment.
 *
 * @typedef {object} Settings
 * @property {string} proxyUrl without credentials
 * @property {string | undefined} token
 * @property {string} clientId
 * @property {'global' | 'all'} webSocket whose sockets are intercepted: all, or only those of `globalThis.WebSocket`
 * @property {boolean} isContextRead whether requests belong to the test whose context led to them
 * @property {number} contextMs how long a context counts after its inbound request was over; ms
 * @property {boolean} isFetchKeyed whether caches above `fetch`, such as Next's, are kept apart by test
 * @property {boolean} isLocal whether requests may pass unasked that no route can match
 * @property {'auto' | 'error' | 'response'} strictAnswer what the application gets for a request that strict mode refuses
 * @property {boolean} isSealed whether the command can reach hardly more than the proxy, as by `trafficmock run --sealed`
 * @property {string[]} ignoreHosts whose requests are left alone: patterns of hosts
 */

/** What a client id has none of: control characters, line separators, halves of surrogate pairs. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** How long a context counts after its inbound request; ms. */
const CONTEXT_MS = 30000;

/** Child processes find here who came before them, and then add their pid. */
const PARENT = "TRAFFICMOCK_PARENT_PID";

/**
 * @param {{ proxyUrl?: string, token?: string, clientId?: string, webSocket?: 'global' | 'all', ignoreHosts?: string[] }} options
 * @param {NodeJS.ProcessEnv} env
 * @returns {Settings} an empty `proxyUrl` when none is set: then nothing is to be done
 * @throws {TypeError} when the URL is not valid, or an option has no such value
 */
function readSettings(options, env) {
  const given = options.proxyUrl ?? env.TRAFFICMOCK_PROXY_URL ?? env.PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL ?? "";
  const url = given === "" ? undefined : parseProxyUrl(given);
  const inUrl = (/** @type {string | undefined} */ part) => (part ? decodeURIComponent(part) : undefined);
  const webSocket = options.webSocket ?? (env.TRAFFICMOCK_WEBSOCKET || "all");
  if (webSocket !== "global" && webSocket !== "all") {
    throw new TypeError(`trafficmock: webSocket must be "global" or "all", not ${JSON.stringify(webSocket)}`);
  }
  const strictAnswer = env.TRAFFICMOCK_STRICT_ANSWER || "auto";
  if (strictAnswer !== "auto" && strictAnswer !== "error" && strictAnswer !== "response") {
    throw new TypeError(
      `trafficmock: TRAFFICMOCK_STRICT_ANSWER must be "auto", "error" or "response", not ${JSON.stringify(strictAnswer)}`,
    );
  }
  return {
    proxyUrl: url ? `${url.protocol}//${url.host}` : "",
    token: options.token ?? env.TRAFFICMOCK_TOKEN ?? env.PLAYWRIGHT_BACKEND_MOCKS_TOKEN ?? inUrl(url?.password),
    clientId: clientIdOf(options.clientId || env.TRAFFICMOCK_CLIENT_ID || inUrl(url?.username)) ?? defaultClientId(env),
    webSocket,
    isContextRead: isOn("TRAFFICMOCK_CONTEXT", env),
    contextMs: milliseconds("TRAFFICMOCK_CONTEXT_MS", env, CONTEXT_MS),
    isFetchKeyed: isOn("TRAFFICMOCK_FETCH_KEY", env),
    isLocal: isOn("TRAFFICMOCK_LOCAL", env),
    strictAnswer,
    isSealed: env.TRAFFICMOCK_SEALED === "1",
    ignoreHosts: hostPatterns(
      options.ignoreHosts ?? (env.TRAFFICMOCK_IGNORE_HOSTS ?? "").split(/[\s,]+/).filter(Boolean),
    ),
  };
}

/**
 * @param {string | undefined} given
 * @returns {string | undefined} nothing where nothing is given
 * @throws {TypeError} when it is not one line of printable text, which the proxy would refuse
 */
function clientIdOf(given) {
  if (!given || !isUnprintable(given)) return given || undefined;
  const escaped = (/** @type {string} */ char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  throw new TypeError(
    `trafficmock: clientId (TRAFFICMOCK_CLIENT_ID) must be one line of printable text, not "${given.replace(UNPRINTABLE, escaped)}"`,
  );
}

/** @param {string} text */
const isUnprintable = (text) => text.search(UNPRINTABLE) >= 0;

/**
 * @param {string} name of a variable that is on by default
 * @param {NodeJS.ProcessEnv} env
 * @returns {boolean}
 * @throws {TypeError} when it is neither 0 nor 1
 */
function isOn(name, env) {
  const given = env[name] || "1";
  if (given !== "0" && given !== "1") {
    throw new TypeError(`trafficmock: ${name} must be 0 or 1, not ${JSON.stringify(given)}`);
  }
  return given === "1";
}

/**
 * @param {string} name of a variable
 * @param {NodeJS.ProcessEnv} env
 * @param {number} usual
 * @returns {number}
 * @throws {TypeError} when it is no whole number
 */
function milliseconds(name, env, usual) {
  const given = env[name] || String(usual);
  if (!/^\d{1,9}$/.test(given)) {
    throw new TypeError(`trafficmock: ${name} must be a number of milliseconds, not ${JSON.stringify(given)}`);
  }
  return Number(given);
}

/**
 * @param {unknown} given
 * @returns {string[]} patterns of hosts, as URLs have them
 * @throws {TypeError} when one is not valid
 */
function hostPatterns(given) {
  const patterns = Array.isArray(given)
    ? given.map((each) => (typeof each === "string" ? normalPattern(each) : undefined))
    : [undefined];
  if (patterns.every((pattern) => pattern !== undefined)) return patterns;
  const wrong = Array.isArray(given) ? given[patterns.indexOf(undefined)] : given;
  throw new TypeError(
    `trafficmock: ignoreHosts (TRAFFICMOCK_IGNORE_HOSTS) must be hosts such as "*.sentry.io" or "localhost:4318", not ${JSON.stringify(wrong)}`,
  );
}

/** @param {string} given */
function parseProxyUrl(given) {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !["http:", "https:", "ws:", "wss:"].includes(url.protocol)) {
    throw new TypeError(
      `trafficmock: the proxy URL must look like http://127.0.0.1:4310, not ${JSON.stringify(withoutCredentials(given))}`,
    );
  }
  return url;
}

/**
 * Messages that show what was given must not show a token in it.
 * @param {string} given
 */
const withoutCredentials = (given) => String(given).replace(/(?<=\/\/).*(?=@)|^[^/]*(?=@)/s, "...");

/**
 * The application's package name, else `node-<pid>`; whoever is not the first
 * of its family adds what tells it apart.
 * @param {NodeJS.ProcessEnv} env
 */
function defaultClientId(env) {
  const script = process.argv[1] ?? "";
  // A tool of the application (`next`, `nest`) is not the application.
  const isTool = script === "" || script.includes(`${sep}node_modules${sep}`);
  const name = packageName(isTool ? process.cwd() : dirname(script));
  if (!name) return isMainThread ? `node-${process.pid}` : `node-${process.pid}-t${threadId}`;
  if (!isMainThread) return `${name}-t${threadId}`;
  const worker = clusterWorker();
  if (worker) return `${name}-w${worker.id}`;
  return env[PARENT] && env[PARENT] !== String(process.pid) ? `${name}-${process.pid}` : name;
}

/** @returns {{ id: number } | undefined} */
function clusterWorker() {
  // A worker has loaded it already; anybody else would load much for nothing.
  return process.channel ? /** @type {any} */ (require("node:cluster")).worker : undefined;
}

/** @param {string} directory */
function packageName(directory) {
  for (;;) {
    try {
      const { name } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
      if (typeof name === "string" && name && !isUnprintable(name)) return name;
    } catch {
      // No readable package.json here: the next one up may have the name.
    }
    const up = dirname(directory);
    if (up === directory) return undefined;
    directory = up;
  }
}

module.exports = { readSettings, PARENT };
