"use strict";

const { execFileSync, spawnSync } = require("node:child_process");
const { UsageError } = require("./errors.js");
const { defaultProxyUrl, defaultToken } = require("./settings.js");

/**
 * For `playwright.config`: the proxy as a `webServer`, and the environment of an application.
 *
 * @typedef {import("../config.js").ProxyServerOptions} ProxyServerOptions
 * @typedef {import("../config.js").AttachedOptions} AttachedOptions
 */

const HOW_TO_INSTALL = "install it where the tests run: pip install trafficmock (or pipx install trafficmock)";
const START_MS = 30_000;

/** @returns {string[]} how the command `trafficmock` is called here */
function command() {
  for (const words of [["trafficmock"], ["python3", "-m", "trafficmock"], ["python", "-m", "trafficmock"]]) {
    const [program, ...args] = words;
    if (spawnSync(program, [...args, "--version"], { stdio: "ignore" }).status === 0) return words;
  }
  throw new UsageError(`neither the command trafficmock nor python -m trafficmock is there: ${HOW_TO_INSTALL}`);
}

/**
 * An item for `webServer`: the proxy, unless it runs already.
 * @param {ProxyServerOptions} [options]
 */
function proxyServer({ proxyUrl = defaultProxyUrl(), token = defaultToken(), args = [], ...rest } = {}) {
  const { hostname, port } = new URL(proxyUrl);
  const words = [...command(), "serve", "--host", hostname, "--port", port || "80", ...args];
  return {
    name: "trafficmock",
    command: words.map(quoted).join(" "),
    url: new URL("/health", proxyUrl).href,
    reuseExistingServer: true,
    timeout: START_MS,
    // By the environment, where other users of the machine do not read it.
    ...(token && { env: { TRAFFICMOCK_TOKEN: token } }),
    ...rest,
  };
}

/**
 * The environment of an application that is to be attached, for `env` of its `webServer` item.
 *
 * @param {AttachedOptions} [options]
 * @returns {Record<string, string>}
 */
function attached({ clientId, proxyUrl = defaultProxyUrl(), token = defaultToken(), args = [] } = {}) {
  const [program, ...words] = command();
  const given = ["--proxy-url", proxyUrl, ...(clientId === undefined ? [] : ["--client-id", clientId]), ...args];
  const output = execFileSync(program, [...words, "env", "--format", "json", ...given], {
    encoding: "utf8",
    env: { ...process.env, ...(token && { TRAFFICMOCK_TOKEN: token }) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(output);
}

/** @param {string} word */
const quoted = (word) => (/^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

module.exports = { attached, proxyServer };
