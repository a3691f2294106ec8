"use strict";

const { version } = require("../../package.json");
const { UsageError } = require("../errors.js");
const { Matcher } = require("../arguments/matcher.js");
const { harDocument, harEntry } = require("./har-entry.js");
const { redactUrl } = require("../report/redaction.js");
const { HarFile } = require("./har-file.js");
const { harEntries } = require("./har-entries.js");

/**
 * `routeFromHAR`: a route that the proxy answers from a HAR, or whose handler records one.
 *
 * @typedef {import("../session/session.js").Session} Session
 * @typedef {import("../session/routed-request.js").RoutedRequest} RoutedRequest
 * @typedef {import("../../index.js").RouteFromHAROptions} RouteFromHAROptions
 */

const WORDS = /** @type {Record<string, string[]>} */ ({
  notFound: ["abort", "fallback"],
  updateContent: ["attach", "embed"],
  updateMode: ["minimal", "full"],
});

/** The largest factor for the pauses of a recorded answer; `MOST_PACE` of serialized_har.py is the same. */
const MOST_PACE = 1000;

/** The most requests without an answer that the warning of a recording names. */
const MOST_NAMED = 5;
/**
 * Register the route; a HAR that is recorded is written at the test's end.
 *
 * @param {Session} session
 * @param {string} file
 * @param {RouteFromHAROptions} [options]
 * @throws {UsageError} an option is invalid
 */
async function routeFromHAR(session, file, options = {}) {
  for (const [name, words] of Object.entries(WORDS)) {
    const given = /** @type {any} */ (options)[name];
    if (given !== undefined && !words.includes(given)) {
      throw new UsageError(`${name} is ${words.join(" or ")}, not ${JSON.stringify(given)}`);
    }
  }
  const { pace } = options;
  if (pace !== undefined && !(typeof pace === "number" && pace >= 0 && pace <= MOST_PACE)) {
    throw new UsageError(`pace is a number from 0 to ${MOST_PACE}, not ${JSON.stringify(pace)}`);
  }
  const matcher = new Matcher(options.url ?? "**/*", { baseURL: session.baseURL });
  const store = new HarFile(file);
  if (options.update) {
    await session.http.route(matcher, recorder(session, file, store, options));
    return;
  }
  const { notFound = "abort" } = options;
  const har = {
    name: store.file,
    entries: await harEntries(store, matcher),
    notFound,
    ...(pace !== undefined && { pace }),
  };
  await session.http.reply(matcher, { har });
}

/**
 * Make a handler that fetches responses from upstream, and records them.
 *
 * @param {Session} session
 * @param {string} file
 * @param {HarFile} store
 * @param {RouteFromHAROptions} options
 */
function recorder(session, file, store, { updateContent = "attach", updateMode = "minimal" }) {
  const files = new Map();
  /** @type {object[]} */
  const entries = [];
  const style = { isFull: updateMode === "full", ...(updateContent === "attach" && { files }) };
  /** @type {string[]} */
  const failed = [];
  session.finishing.push(async () => {
    await store.save(harDocument(entries, version), files);
    if (failed.length) console.warn(withoutAnswer(file, failed));
  });
  return async function recordHAR(/** @type {any} */ route) {
    const routed = session.views.routedOf(route);
    const { request } = routed;
    const began = Date.now();
    const response = await routed.fetch().catch((error) => String(error.message));
    entries.push(harEntry({ request, response, began, ms: Date.now() - began }, style));
    if (typeof response === "string") {
      failed.push(`${request.method} ${redactUrl(request.url)}: ${response}`);
      routed.abort("failed");
    } else {
      routed.settleWith({ response });
    }
  };
}

/**
 * @param {string} file the HAR that was recorded
 * @param {readonly string[]} failed the requests that got no answer, with the reason
 */
function withoutAnswer(file, failed) {
  const lines = failed.slice(0, MOST_NAMED).map((each) => `\n  ${each}`);
  if (failed.length > MOST_NAMED) lines.push(`\n  and ${failed.length - MOST_NAMED} more`);
  return `trafficmock: while ${file} was recorded, the real server gave no answer. The HAR has status -1 for:${lines.join("")}`;
}
module.exports = { routeFromHAR };
