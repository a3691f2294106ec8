"use strict";

const { execFileSync, spawnSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const { checked } = require("./arguments/options.js");
const { commandLine } = require("./command-line.js");
const { beginRun } = require("./connection/run-age.js");
const { UsageError } = require("./errors.js");
const { defaultProxyUrl, defaultToken, tellProxyUrl } = require("./settings.js");

/**
 * For `playwright.config`: the proxy as a `webServer`, and the environment of an application.
 *
 * @typedef {import("../config.js").ProxyServerOptions} ProxyServerOptions
 * @typedef {import("../config.js").AttachedOptions} AttachedOptions
 */

const HOW_TO_INSTALL =
  "install trafficmock (Python 3.11 or later) where the tests run, so that one of them works, or the npm package trafficmock-proxy";
const START_MS = 30_000;

/**
 * Compute a value once for all processes of a run: each worker of Playwright reads the configuration again, and
 * inherits the environment of the process that read it first, which has the value in a variable.
 *
 * @template T
 * @param {string} what the name of the value, for the variable
 * @param {readonly unknown[]} given the values that it depends on
 * @param {() => T} find
 * @returns {T}
 */
function once(what, given, find) {
  const key = createHash("sha256")
    .update(JSON.stringify([given, process.cwd(), process.env.PATH]))
    .digest("hex");
  const name = `TRAFFICMOCK_FOUND_${what}_${key.slice(0, 16)}`;
  const known = process.env[name];
  if (known) return JSON.parse(known);
  const found = find();
  process.env[name] = JSON.stringify(found);
  return found;
}

/** @returns {string[]} the words with which the command `trafficmock` is called on this machine */
const command = () => once("COMMAND", [], findCommand);

/** @returns {string[]} */
function findCommand() {
  // On Windows "py" starts the newest Python.
  for (const words of [
    ["trafficmock"],
    ...["python3", "python", "py"].map((python) => [python, "-m", "trafficmock"]),
  ]) {
    const [program, ...args] = words;
    if (spawnSync(program, [...args, "--version"], { stdio: "ignore" }).status === 0) return words;
  }
  const packaged = findPackaged();
  if (packaged) return packaged;
  throw new UsageError(`neither the command trafficmock nor python3 -m trafficmock is there: ${HOW_TO_INSTALL}`);
}

/** @returns {string[] | undefined} the command of the package `trafficmock-proxy`, if the project has it */
function findPackaged() {
  let found;
  try {
    found = require.resolve("trafficmock-proxy", { paths: [process.cwd(), __dirname] });
  } catch {
    return undefined;
  }
  return require(found).trafficmockCommand();
}

/**
 * Make an item for `webServer` that starts the proxy, unless it runs already. The fixtures, `attached` and the processes
 * that this one starts then know its address.
 * @param {ProxyServerOptions} [options]
 * @throws {UsageError} the command `trafficmock` is not installed, or there is no such option
 */
function proxyServer(options) {
  const { proxyUrl: given, token = defaultToken(), args = [], strict, ...rest } = checked("proxyServer", options) ?? {};
  if (strict) checked("proxyServer.strict", strict, typeof strict === "boolean" ? "; did you mean {}?" : "");
  beginRun();
  tellProxyUrl(given);
  const proxyUrl = defaultProxyUrl();
  const { hostname, port } = new URL(proxyUrl);
  const allowed = (strict?.allow ?? []).flatMap((pattern) => ["--allow", pattern]);
  const words = [...command(), "serve", "--host", hostname, "--port", port || "80"];
  words.push(...(strict ? ["--strict", ...allowed] : []), ...args);
  return {
    name: "trafficmock",
    command: commandLine(words),
    url: new URL("/health", proxyUrl).href,
    reuseExistingServer: true,
    timeout: START_MS,
    // In the environment, which other users of the machine cannot read.
    ...(token && { env: { TRAFFICMOCK_TOKEN: token } }),
    ...rest,
  };
}

/**
 * Make the environment of an attached application, for `env` of its `webServer` item. The fixtures then know the address
 * of the proxy.
 *
 * @param {AttachedOptions} [given]
 * @returns {Record<string, string>}
 * @throws {UsageError} the command `trafficmock` is not installed
 * @throws {Error} `trafficmock env` fails
 */
function attached(given) {
  const { clientId, proxyUrl: givenUrl, token = defaultToken(), args = [] } = checked("attached", given) ?? {};
  beginRun();
  tellProxyUrl(givenUrl);
  const proxyUrl = defaultProxyUrl();
  const options = { clientId, proxyUrl, token, args };
  // The result has the token. One that is not in this process's environment must not be stored there.
  if (token !== defaultToken()) return askForEnvironment(options);
  const { NODE_OPTIONS, NO_PROXY, no_proxy } = process.env;
  return once("ENVIRONMENT", [options, NODE_OPTIONS, NO_PROXY, no_proxy], () => askForEnvironment(options));
}

/**
 * @param {{ clientId?: string, proxyUrl: string, token?: string, args: readonly string[] }} options
 * @returns {Record<string, string>}
 */
function askForEnvironment({ clientId, proxyUrl, token, args }) {
  const [program, ...words] = command();
  const given = ["--proxy-url", proxyUrl, ...(clientId === undefined ? [] : ["--client-id", clientId]), ...args];
  const output = execFileSync(program, [...words, "env", "--format", "json", ...given], {
    encoding: "utf8",
    env: { ...process.env, ...(token && { TRAFFICMOCK_TOKEN: token }) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(output);
}

module.exports = { attached, command, proxyServer };
