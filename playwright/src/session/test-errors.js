"use strict";

const { inspect } = require("node:util");
const { UNMATCHED } = require("trafficmock-agent/protocol/facts");
const { IsolationError, RoutingError, TrafficMockError } = require("../errors.js");
const { withoutFrames, withoutOwnFrames } = require("./call-site.js");

/**
 * @typedef {import("./http-routes.js").RouteEntry} RouteEntry
 * @typedef {import("./request-state.js").RequestState} RequestState
 */

const NOTHING_FURTHER = "Further requests of this test were refused without an error of their own.";

/** The errors of one test that it has not taken. */
class TestErrors {
  /** @type {Error[]} */
  #errors = [];
  /** @type {Set<string>} origins to which the clients of the test sent requests without its context */
  untagged = new Set();

  get count() {
    return this.#errors.length;
  }

  /** @param {Error} error */
  add(error) {
    this.#errors.push(error);
  }

  /** @returns {Error[]} the errors so far, which are forgotten */
  take() {
    const taken = this.#errors;
    this.#errors = [];
    for (const error of taken) {
      if (this.untagged.size && isOfContexts(error)) withNote(error, untaggedNote([...this.untagged]));
      if ((error instanceof RoutingError || error instanceof IsolationError) && error.repeats) {
        withNote(error, `${error.repeats} more ${error.repeats === 1 ? "request" : "requests"} met the same.`);
      }
    }
    return taken;
  }

  /**
   * Add an error for a request without the context that the test requires, or count it as a repeat of a known one.
   * @param {{ request: { method: string, url: string }, shownUrl?: string, clientId: string, lost?: string }} message
   */
  withoutContext({ request: { method, url }, shownUrl = url, clientId, lost }) {
    const request = `${method} ${shownUrl}`;
    const known = this.#errors.find((error) => error instanceof IsolationError && error.request === request);
    if (known) /** @type {IsolationError} */ (known).repeats += 1;
    else this.add(withoutFrames(new IsolationError(request, clientId, lost)));
  }

  /**
   * Add an error that code of the test threw.
   *
   * @param {unknown} thrown
   * @param {string} where the function that threw it, for the text
   * @returns {string} the message of the error
   */
  thrown(thrown, where) {
    const error = asError(thrown);
    const { message } = error;
    this.#errors.push(withNote(error, where));
    return message;
  }

  /**
   * @param {unknown} thrown
   * @param {RouteEntry} entry
   * @param {RequestState} request
   * @returns {string} the message of the error
   */
  thrownByHandler(thrown, entry, request) {
    return this.thrown(thrown, `in ${entry.name}, registered for ${entry.matcher}, on ${request}`);
  }

  /**
   * @param {unknown} thrown
   * @param {import("../arguments/matcher.js").Matcher} matcher
   * @param {string} shownUrl
   */
  thrownByPredicate(thrown, matcher, shownUrl) {
    this.thrown(thrown, `in ${matcher}, asked about ${shownUrl}`);
  }

  /**
   * Add an error that the proxy reports, or count it as a repeat of a known one.
   * @param {{ code: string, message: string, detail?: unknown }} reported the `proxy:error`
   */
  toldByProxy({ code, message, detail }) {
    const reported = withoutFrames(new RoutingError(inLines(message), { code, detail }));
    const known = /** @type {RoutingError | undefined} */ (
      this.#errors.find((error) => error instanceof RoutingError && isRepeated(error, reported))
    );
    if (known) known.repeats += 1;
    else this.#errors.push(reported);
    if (/** @type {any} */ (detail)?.last) withNote(known ?? reported, NOTHING_FURTHER);
  }
}

/**
 * Return what was thrown as an error that can be read: any value can be thrown, and some have no text.
 * @param {unknown} thrown
 * @returns {Error}
 */
function asError(thrown) {
  try {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    if (typeof error.message === "string" && typeof error.stack !== "object") return error;
    return new Error(inspect(thrown, { depth: 1, customInspect: false }));
  } catch {
    return new Error("a value that has no text was thrown");
  }
}

/** @param {Error} error */
const isOfContexts = (error) =>
  error instanceof IsolationError || (error instanceof RoutingError && error.code === "ambiguous_route");

/** @param {readonly string[]} origins */
const untaggedNote = (origins) =>
  `The test sent requests to ${origins.join(", ")} without its context, because \`origins\` does not name it: add it to ` +
  "use: { trafficmock: { origins } }.";

/**
 * @param {RoutingError} known
 * @param {RoutingError} reported
 * @returns {boolean} whether the error repeats a known one for another request
 */
function isRepeated(known, reported) {
  if (known.code !== reported.code) return false;
  // The message may differ: it names the nearest route.
  if (reported.code === UNMATCHED) return requestOf(known) === requestOf(reported);
  // The same tests are told apart by no request of this kind: one is enough.
  if (reported.code === "ambiguous_route") return rivalsOf(known) === rivalsOf(reported);
  return known.message === reported.message;
}

/** @param {RoutingError} error about a request that several tests match */
function rivalsOf({ detail, message }) {
  const matches = Array.isArray(detail) ? detail : [];
  return matches.length ? JSON.stringify([...new Set(matches.map(({ routeId }) => routeId))].sort()) : message;
}

/** @param {RoutingError} error of strict mode */
function requestOf({ detail }) {
  const { kind, method, url } = /** @type {any} */ (detail) ?? {};
  return JSON.stringify([kind, method, url]);
}

/**
 * Throw the errors of a test: a single one as it is, so that its own line is shown; several as one error. Errors of the same
 * text, such as those of a handler that throws for each request, are one.
 * @param {Error[]} thrown
 */
function throwAll(thrown) {
  const errors = distinct(thrown);
  if (errors.length === 0) return;
  if (errors.length === 1) throw errors[0];
  const all = new TrafficMockError(errors.map(({ message }) => message).join("\n"));
  all.stack = errors.map(({ stack, message }) => stack ?? message).join("\n");
  throw all;
}

/**
 * @param {readonly Error[]} thrown
 * @returns {Error[]} the first of each text, with the number of its repeats
 */
function distinct(thrown) {
  /** @type {Map<string, { error: Error, repeats: number }>} */
  const known = new Map();
  for (const error of thrown) {
    const key = `${error.name}: ${error.message}`;
    const same = known.get(key);
    if (same) same.repeats += 1;
    else known.set(key, { error, repeats: 0 });
  }
  return [...known.values()].map(({ error, repeats }) => {
    if (!repeats) return error;
    return withNote(error, `The same happened ${repeats === 1 ? "once more" : `${repeats} more times`}.`);
  });
}

/**
 * @param {string} message of strict mode, or another
 * @returns {string} with the nearest route and the advice on lines of their own, because reports do not wrap lines
 */
const inLines = (message) => message.replace(/ (?=Nearest: |Add a route|Allow )/g, "\n");

/**
 * Add a line to an error's text and to its stack, which begins with the text.
 *
 * @param {Error} error
 * @param {string} note
 */
function withNote(error, note) {
  const { message, stack } = error;
  try {
    error.message = `${message}\n${note}`;
    if (stack) error.stack = withoutOwnFrames(stack.replace(message, () => error.message));
  } catch {
    // A frozen error keeps its own text.
  }
  return error;
}

module.exports = { TestErrors, throwAll };
