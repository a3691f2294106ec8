"use strict";

const { version } = require("../../package.json");
const { UsageError } = require("../errors.js");
const { Matcher } = require("../arguments/matcher.js");
const { harDocument, harEntry } = require("./har-entry.js");
const { redactUrl } = require("../report/redaction.js");
const { HarFile } = require("./har-file.js");
const { HarCycleError, HarLookup, STALLED } = require("./har-lookup.js");
const { repliesOf } = require("./har-replies.js");

/**
 * `routeFromHAR`: a route whose handler answers from a HAR, or records one. The proxy gets the responses that depend
 * only on method and URL with the route, and sends them without the handler.
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

/** The most requests without an answer that the warning of a recording names. */
const MOST_NAMED = 5;
/** What the recorded texts of failures have, by the error code. */
const FAILURES = /** @type {[string, RegExp][]} */ ([
  ["namenotresolved", /ENOTFOUND|EAI_|DNS|getaddrinfo|not.?resolved/i],
  ["connectionrefused", /refused/i],
  ["connectionreset", /ECONNRESET|reset/i],
  ["timedout", /timed? ?out/i],
]);

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
  const matcher = new Matcher(options.url ?? "**/*", { baseURL: session.baseURL });
  const store = new HarFile(file);
  if (options.update) {
    await session.http.route(matcher, recorder(session, file, store, options));
    return;
  }
  const lookup = new HarLookup(await store.entries(), (name) => store.read(name));
  const replies = await repliesOf(lookup, matcher, store);
  await session.http.route(matcher, player(session, lookup, options), undefined, replies);
}

/**
 * Make a handler that answers from a HAR.
 *
 * @param {Session} session
 * @param {HarLookup} lookup
 * @param {RouteFromHAROptions} options
 */
function player(session, lookup, { notFound = "abort" }) {
  return async function replayHAR(/** @type {any} */ route) {
    const routed = session.views.routedOf(route);
    const { url, method, pairs, body } = routed.request;
    const found = await lookup.find({ url, method, pairs, body }).catch((error) => {
      if (error instanceof HarCycleError) return undefined;
      throw error;
    });
    if (found?.status === STALLED) routed.abort(failureCode(found.failure));
    else if (found) routed.settleWith({ ...found, content: found.body });
    else if (notFound === "fallback") routed.fallback();
    else routed.abort("failed");
  };
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
/** @param {string} text of a recorded failure */
const failureCode = (text) => FAILURES.find(([, told]) => told.test(text))?.[0] ?? "failed";

module.exports = { routeFromHAR };
