"use strict";

const { UsageError } = require("../errors.js");
const { CONDITIONS, readConditions } = require("./conditions.js");
const headers = require("./headers.js");
const { checkNames } = require("./options.js");
const { accepts, allMet } = require("./value-checks.js");

/**
 * The arguments that select requests.
 *
 * @typedef {import("../../index.js").UrlMatcher} UrlMatcher
 * @typedef {import("../../index.js").RouteMatcher} RouteMatcher
 * @typedef {{ baseURL?: string, webSocket?: boolean }} Base the URL that relative globs are resolved against
 *
 * @typedef {{ urlGlob?: string, baseUrl?: string, urlRegex?: { source: string, flags: string }, methods?: string[], clientIds?: string[],
 *   predicate?: boolean, conditions?: import("./conditions.js").Condition[] }} SerializedMatcher of protocol 3; with `predicate` the proxy has to ask this process
 * @typedef {{ wire: SerializedMatcher, test?(url: string): unknown }} UrlPart without `test` for a glob, which the proxy reads
 */

const KEYS = ["url", "method", "clientId", ...CONDITIONS];

/** A host, or a host with a port, at the beginning of a glob. A name of a file is none. */
const HOST_FIRST =
  /^(?:(?:[\w*-]+\.)+(?!(?:html?|json|js|css|php|xml|txt|png|svg)\b)[a-z]{2,}|localhost)(?::\d+)?(?:\/|$)/i;

/** The condition of a route or wait, with its form for the proxy (`wire`). */
class Matcher {
  /**
   * @param {RouteMatcher | undefined} given
   * @param {Base} [base] for relative globs
   */
  constructor(given, base = {}) {
    const fields = fieldsOf(given);
    const { url, method, clientId } = fields;
    this.url = url;
    this.methods = list(method, "method").map((name) => name.toUpperCase());
    for (const name of this.methods) {
      headers.method(name);
    }
    this.clientIds = list(clientId, "clientId");
    const conditions = readConditions(fields);
    if (conditions.length && base.webSocket) {
      throw new UsageError("a WebSocket is matched by url and clientId; conditions are for HTTP requests");
    }
    const part = urlPart(url, base);
    this.test = part.test;
    this.kind = base.webSocket ? "websocket" : "http";
    /** @type {any[]} the conditions with a function, which only this process can call */
    this.checks = conditions.filter((each) => each.test);
    /** @type {SerializedMatcher} */
    this.wire = {
      ...part.wire,
      ...(this.methods.length && { methods: this.methods }),
      ...(this.clientIds.length && { clientIds: this.clientIds }),
      ...(conditions.length && { conditions: conditions.map(({ test: _, ...compared }) => compared) }),
      ...(this.checks.length && { predicate: true }),
    };
  }

  /** A hint, if its glob begins with a host instead of a scheme; else empty. */
  get hint() {
    const { urlGlob: glob, baseUrl } = this.wire;
    if (typeof this.url !== "string" || !glob || !HOST_FIRST.test(glob)) return "";
    const of = baseUrl ? ` of the base URL ${baseUrl}` : ", and there is no base URL";
    return `"${glob}" has no scheme, so it is a path${of}: for a host, write "https://${glob}".`;
  }

  /** Whether this process can test a URL. */
  get isRead() {
    return this.test !== undefined;
  }

  /**
   * Let the proxy read the glob, if there is one, so that this process can test a URL.
   * @param {{ query(message: object): Promise<any> }} connection
   * @throws {UsageError} the glob is invalid
   */
  async read(connection) {
    if (this.isRead) return;
    const { urlGlob: glob, baseUrl } = this.wire;
    const { source, error } = await connection.query({ type: "glob:query", glob, baseUrl, kind: this.kind });
    if (error !== undefined) throw new UsageError(error);
    const regex = new RegExp(source);
    this.test = (/** @type {string} */ url) => regex.test(url);
  }

  /**
   * Test whether the functions in the place of values accept those of a request.
   * @param {import("./value-checks.js").PlacedValues[]} [values] which the proxy sends
   */
  matchesValues(values = []) {
    return allMet(this.checks, values);
  }

  /**
   * Test a request by these; a predicate is called after the others.
   * @param {{ url: string, method: string, clientId: string }} request
   */
  matches({ url, method, clientId }) {
    if (this.clientIds.length && !this.clientIds.includes(clientId)) return false;
    return this.matchesOfAny({ url, method });
  }

  /**
   * Test a request without regard to its client id.
   * @param {{ url: string, method: string }} request
   */
  matchesOfAny({ url, method }) {
    if (this.methods.length && !this.methods.includes(method.toUpperCase())) return false;
    return this.matchesUrl(url);
  }

  /** @param {string} url once a glob is read */
  matchesUrl(url) {
    return accepts(/** @type {(url: string) => unknown} */ (this.test), url);
  }

  /**
   * Compare the arguments of two matchers; predicates and URLPatterns are compared by identity.
   * @param {Matcher} other
   */
  sameAs(other) {
    const filters = (/** @type {Matcher} */ each) =>
      JSON.stringify([each.methods, each.clientIds, each.wire.conditions]);
    if (filters(this) !== filters(other) || this.checks.length !== other.checks.length) return false;
    if (this.checks.some(({ test }, index) => test !== other.checks[index].test)) return false;
    if (this.url instanceof RegExp && other.url instanceof RegExp) return String(this.url) === String(other.url);
    return this.url === other.url;
  }

  toString() {
    const parts = [describeUrl(this.url)];
    if (this.methods.length) parts.push(`method ${this.methods.join(" or ")}`);
    if (this.clientIds.length) parts.push(`clientId ${this.clientIds.join(" or ")}`);
    if (this.wire.conditions) parts.push("with conditions");
    return parts.join(", ");
  }
}

/**
 * @param {RouteMatcher | undefined} given
 * @returns {import("../../index.js").RouteFilter}
 */
function fieldsOf(given) {
  if (!isFilter(given)) return { url: given };
  checkNames("a filter has the keys", Object.keys(given), KEYS);
  return given;
}

/**
 * @param {RouteMatcher | undefined} given
 * @returns {given is import("../../index.js").RouteFilter} whether it is an object of filters, not a condition on the
 *   URL
 */
function isFilter(given) {
  return typeof given === "object" && given !== null && !(given instanceof RegExp) && !isUrlPattern(given);
}

/**
 * @param {any} given
 * @returns {boolean} whether it is a `URLPattern` of Node or of a polyfill
 */
function isUrlPattern(given) {
  return typeof given?.test === "function" && "pathname" in given && "hostname" in given;
}

/**
 * @param {unknown} given
 * @param {string} what
 * @returns {string[]}
 */
function list(given, what) {
  const names = given === undefined ? [] : Array.isArray(given) ? [...given] : [given];
  if (names.every((name) => typeof name === "string" && name)) return names;
  throw new UsageError(`${what} is a text or several, not ${JSON.stringify(given)}`);
}

/**
 * @param {UrlMatcher | undefined} url
 * @param {Base} base
 * @returns {UrlPart}
 */
function urlPart(url, base) {
  if (url === undefined) return { wire: {}, test: () => true };
  if (typeof url === "string") return { wire: { urlGlob: url, ...(base.baseURL && { baseUrl: base.baseURL }) } };
  if (url instanceof RegExp) {
    const { source, flags } = url;
    return { wire: { urlRegex: { source, flags } }, test: (text) => testFromStart(url, text) };
  }
  if (isUrlPattern(url)) {
    const pattern = /** @type {{ test(url: string): boolean }} */ (url);
    return { wire: { predicate: true }, test: (text) => pattern.test(text) };
  }
  if (typeof url === "function") return { wire: { predicate: true }, test: (text) => url(new URL(text)) };
  throw new UsageError(
    `a matcher is a glob, a RegExp, a function of the URL, a URLPattern or an object of filters, not ${typeof url}`,
  );
}

/**
 * @param {RegExp} regex
 * @param {string} text
 */
function testFromStart(regex, text) {
  regex.lastIndex = 0;
  return regex.test(text);
}

/** @param {UrlMatcher | undefined} url */
function describeUrl(url) {
  if (url === undefined) return "any URL";
  if (typeof url === "string") return JSON.stringify(url);
  if (typeof url === "function") return url.name ? `the predicate ${url.name}` : "a predicate";
  return url instanceof RegExp ? String(url) : "a URLPattern";
}

/**
 * @template T
 * @param {string} call
 * @param {T} options of the call, not of its filter
 * @returns {T} the options
 * @throws {UsageError} one is a key of a filter, as fetch and axios have the method in their options
 */
function withoutFilter(call, options) {
  if (typeof options !== "object" || options === null) return options;
  const misplaced = KEYS.filter((key) => key in options);
  if (!misplaced.length) return options;
  const example = ["url", ...misplaced.filter((key) => key !== "url")].join(", ");
  const verb = misplaced.length === 1 ? "stands" : "stand";
  throw new UsageError(
    `${call}: ${misplaced.join(", ")} ${verb} in a filter in the place of the URL: ${call}({ ${example} }, …)`,
  );
}

module.exports = { Matcher, withoutFilter };
