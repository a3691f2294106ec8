"use strict";

const { UsageError } = require("../errors.js");

/** The options of the calls, but for those of answers, which the proxy reads. A key that is none of them is an error: it would be ignored, and the test go astray. */

const REQUEST_CHANGES = ["url", "method", "headers", "postData"];
const WAIT = ["timeout", "signal"];

const TEST = ["isolation", "origins", "strict", "allow", "required", "traffic"];

const OPTIONS = {
  route: ["times", "required"],
  unrouteAll: ["behavior"],
  routeFromHAR: [
    ...["url", "notFound", "mode", "update", "updateContent", "updateMode", "pace", "redact"],
    ...["matchOn", "ignore", "inOrder", "followRedirects"],
  ],
  strict: ["allow"],
  waitForRequest: WAIT,
  waitForResponse: WAIT,
  "route.fallback": REQUEST_CHANGES,
  "route.fetch": [...REQUEST_CHANGES, ...WAIT, "maxRedirects", "maxRetries"],
  "stream.sse": ["data", "event", "id", "retry", "json"],
  "webSocketRoute.close": ["code", "reason"],
  connect: [
    "title",
    "file",
    "proxyUrl",
    "token",
    "workerId",
    "baseURL",
    "isolation",
    "strict",
    "allow",
    "required",
    "attachSelf",
  ],
  attachSelf: ["proxyUrl", "token", "clientId", "ignoreHosts"],
  end: ["failed", "error"],
  trafficmock: TEST,
  trafficmockOptions: TEST,
  trafficmockStrict: ["allow"],
  attached: ["clientId", "proxyUrl", "token", "args"],
  "proxyServer.strict": ["allow"],
  proxyServer: [
    ...["proxyUrl", "token", "strict", "args"],
    // Those of an item of `webServer`.
    ...["name", "command", "url", "port", "cwd", "env", "timeout", "reuseExistingServer", "ignoreHTTPSErrors"],
    ...["gracefulShutdown", "stdout", "stderr", "wait"],
  ],
};

/** Of these, the options that are true or false. */
const FLAGS = /** @type {Record<string, string[]>} */ ({
  routeFromHAR: ["update", "inOrder", "followRedirects"],
  connect: ["strict", "required", "attachSelf"],
  trafficmock: ["strict", "required"],
  trafficmockOptions: ["strict", "required"],
});

/** The newer names of options. */
const RENAMED = /** @type {Record<string, string>} */ ({ "routeFromHAR sequence": "inOrder" });

/** How many letters of a name may be wrong for a suggestion. */
const MOST_WRONG = 2;

/**
 * @template T
 * @param {keyof typeof OPTIONS} call
 * @param {T} given
 * @param {string} [hint] added to the text of the error
 * @returns {T} the options
 * @throws {UsageError} they are not an object, there is no such option, or one is neither true nor false
 */
function checked(call, given, hint = "") {
  const known = OPTIONS[call];
  if (given === undefined) return given;
  const options = /** @type {object} */ (anObject(call, given, ` of ${known.join(", ")}`, hint));
  checkNames(`${call}: the options are`, Object.keys(options), known, {
    hint,
    renamed: (key) => RENAMED[`${call} ${key}`],
  });
  const flags = Object.entries(options).filter(([name]) => FLAGS[call]?.includes(name));
  checkFlags(Object.fromEntries(flags));
  return given;
}

/**
 * @param {string} what the beginning of the error
 * @param {readonly string[]} given
 * @param {readonly string[]} known
 * @param {{ hint?: string, renamed?: (key: string) => string | undefined }} [also] what is added to the text of the
 *   error, and the newer name of one
 * @throws {UsageError} one is unknown; a similar one is suggested
 */
function checkNames(what, given, known, { hint = "", renamed } = {}) {
  const unknown = given.filter((key) => !known.includes(key));
  if (!unknown.length) return;
  const meant = unknown.map((key) => renamed?.(key) ?? suggestion(key, known)).filter(Boolean);
  const question = meant.length ? `; did you mean ${meant.join(", ")}?` : "";
  throw new UsageError(`${what} ${known.join(", ")}, not ${unknown.join(", ")}${hint}${question}`);
}

/**
 * @template T
 * @param {string} call
 * @param {T} given
 * @param {string} [of] what the options are
 * @param {string} [hint] added to the text of the error
 * @returns {T & object} the options
 * @throws {UsageError} they are not an object
 */
function anObject(call, given, of = "", hint = "") {
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return given;
  const value = typeof given === "function" ? "a function" : JSON.stringify(given);
  throw new UsageError(`${call}: the options are an object${of}, not ${value}${hint}`);
}

/**
 * @param {string} key
 * @param {readonly string[]} known
 * @returns {string | undefined} the most similar name, if it is a likely one
 */
function suggestion(key, known) {
  const rated = known.map((name) => ({ name, wrong: distance(key.toLowerCase(), name.toLowerCase()) }));
  const [best] = rated.sort((one, other) => one.wrong - other.wrong);
  return best.wrong <= MOST_WRONG && best.wrong < key.length ? best.name : undefined;
}

/**
 * Count the letters to insert, to remove or to replace (the Levenshtein distance).
 * @param {string} one
 * @param {string} other
 */
function distance(one, other) {
  let row = [...other, ""].map((_, column) => column);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [column, wanted] of [...other].entries()) {
      next.push(Math.min(row[column] + (letter === wanted ? 0 : 1), row[column + 1] + 1, next[column] + 1));
    }
    row = next;
  }
  return row[other.length];
}

/**
 * Check options that are true or false.
 *
 * @param {object} given some of them
 * @throws {UsageError} one is something else, such as a text, which would count as true
 */
function checkFlags(given) {
  for (const [name, flag] of Object.entries(given)) {
    if (flag === undefined || typeof flag === "boolean") continue;
    throw new UsageError(`${name} is true or false, not ${JSON.stringify(flag) ?? typeof flag}`);
  }
}

/**
 * @param {unknown} value
 * @returns {boolean} whether it is the options of a test, in the place of the fixture `trafficmock`
 */
const isTestOptions = (value) =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const TIMEOUT_MS = 30_000;

/**
 * @param {unknown} [timeout] an option of a wait or a fetch
 * @returns {number} ms, 0 for no limit
 * @throws {UsageError} it is negative or no number
 */
function timeoutOf(timeout = TIMEOUT_MS) {
  if (typeof timeout === "number" && timeout >= 0) return timeout;
  throw new UsageError(`timeout is milliseconds, 0 for no limit, not ${JSON.stringify(timeout)}`);
}

module.exports = { anObject, checkFlags, checkNames, checked, isTestOptions, timeoutOf };
