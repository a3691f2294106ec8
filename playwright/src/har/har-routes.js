"use strict";

const { MOST_PACE } = require("trafficmock-agent/protocol/facts");
const { UsageError } = require("../errors.js");
const { Matcher } = require("../arguments/matcher.js");
const { HarFile } = require("./har-file.js");
const { harEntries } = require("./har-entries.js");

/**
 * `routeFromHAR`: a route that the proxy answers from a HAR, or records one for.
 *
 * @typedef {import("../session/session.js").Session} Session
 * @typedef {import("../../index.js").RouteFromHAROptions} RouteFromHAROptions
 */

const WORDS = /** @type {Record<string, string[]>} */ ({
  notFound: ["abort", "fallback"],
  mode: ["none", "once", "new", "all"],
  updateContent: ["attach", "embed"],
  updateMode: ["minimal", "full"],
});

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
  if (options.update && ![undefined, "all"].includes(options.mode)) {
    throw new UsageError(`update is mode "all": leave it out for mode ${JSON.stringify(options.mode)}`);
  }
  const { inOrder = false, followRedirects = false } = options;
  const matchOn = options.matchOn === undefined ? undefined : wordsOf("matchOn", options.matchOn);
  const ignore = wordsOf("ignore", options.ignore);
  const matcher = new Matcher(options.url ?? "**/*", { baseURL: session.baseURL });
  const store = new HarFile(file);
  const mode = options.update ? "all" : (options.mode ?? "none");
  const replays = mode === "none" || (mode !== "all" && (await store.exists()));
  const records = mode === "new" || !replays;
  /** @param {any[]} entries @param {Set<number>} used */
  const replay = (entries, used) => {
    const notFound = records ? "fallback" : (options.notFound ?? "abort");
    const given = { ...(pace !== undefined && { pace }), ...(matchOn && { matchOn }) };
    const har = { name: store.name, entries, notFound, ...given, ignore, inOrder, followRedirects };
    return session.http.addAnswers(matcher, { har }, { used });
  };
  // The proxy says whether they are rules, before a later run needs them.
  if (!replays && (matchOn || ignore.length)) await replay([], new Set());
  if (records) {
    await record(session, matcher, store, options, replays ? await store.entries() : []);
  }
  if (replays) {
    // Entries of another URL than the route's may answer where not all of it is compared.
    await matcher.read(session.connection);
    const isOfAnyUrl = Boolean(matchOn && !matchOn.includes("url"));
    const entries = await harEntries(store, matcher, { isOfAnyUrl, followRedirects });
    await replay(entries, session.useOf(store.file, entries.length).used);
  }
}

/**
 * Register a route that the proxy records, and write the HAR when the test has passed.
 *
 * @param {Session} session
 * @param {Matcher} matcher
 * @param {HarFile} store
 * @param {RouteFromHAROptions} options
 * @param {any[]} kept the entries of an earlier recording, which stay
 */
async function record(session, matcher, store, options, kept) {
  const { updateContent: content = "attach", updateMode: mode = "minimal", followRedirects = false } = options;
  const redact = wordsOf("redact", options.redact);
  const { error } = await session.connection.redacted({ redact });
  if (error) throw new UsageError(error);
  const bodies = await filesOf(store, kept);
  const { id: routeId } = await session.http.addAnswers(matcher, {
    record: { content, mode, redact, followRedirects },
  });
  session.finishing.push(async () => {
    // A recording of a test that failed would be replayed as if it were right.
    if (session.passed === false || session.errors.count > 0) return;
    const { entries, files } = await session.connection.recording({ testId: session.id, routeId });
    if (kept.length && entries.length === 0) return;
    await store.save([...kept, ...entries], new Map([...bodies, ...files]));
    const { used } = session.useOf(store.file, kept.length + entries.length);
    for (const index of entries.keys()) used.add(kept.length + index + 1);
    const failed = entries.filter(({ response }) => response._failureText !== undefined);
    if (failed.length) console.warn(withoutAnswer(store.name, failed));
  });
}

/**
 * Read an option of one word or several; the proxy says which words there are.
 *
 * @param {string} name
 * @param {string | readonly string[]} [given]
 * @throws {UsageError} it is neither
 */
function wordsOf(name, given = []) {
  const words = typeof given === "string" ? [given] : given;
  if (Array.isArray(words) && words.every((word) => typeof word === "string")) return [...words];
  throw new UsageError(`${name} is a word or a list of words, not ${JSON.stringify(given)}`);
}

/**
 * Read the files of bodies: an archive is replaced as a whole.
 *
 * @param {HarFile} store
 * @param {any[]} entries
 * @returns {Promise<Map<string, Buffer>>}
 */
async function filesOf(store, entries) {
  const files = new Map();
  for (const entry of entries) {
    for (const body of [entry?.request?.postData, entry?.response?.content]) {
      const name = body?._file;
      if (typeof name !== "string" || files.has(name)) continue;
      // Replayed, the entry says that its file is missing.
      const content = await store.read(name).catch(() => undefined);
      if (content) files.set(name, content);
    }
  }
  return files;
}

/**
 * @param {string} file the HAR that was recorded
 * @param {readonly any[]} failed the entries of the requests that got no answer
 */
function withoutAnswer(file, failed) {
  const lines = failed
    .slice(0, MOST_NAMED)
    .map(({ request: { method, url }, response: { _failureText: why } }) => `\n  ${method} ${url}: ${why}`);
  if (failed.length > MOST_NAMED) lines.push(`\n  and ${failed.length - MOST_NAMED} more`);
  return `trafficmock: while ${file} was recorded, the real server gave no answer. The HAR has status -1 for:${lines.join("")}`;
}
module.exports = { routeFromHAR };
