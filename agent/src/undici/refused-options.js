"use strict";

const { types } = require("node:util");
const { bypass } = require("../bypass.js");
const headers = require("../protocol/headers.js");
const { internal } = require("../process/internals.js");
const { outer } = require("../process/realm.js");
const { isBlob, isForm } = require("./body.js");
const { pairsOf } = require("./dispatch-options.js");
const { GLOBALS } = require("./own-dispatcher.js");
const { lengthMismatchError } = require("./undici-errors.js");

/*
 * undici refuses some requests itself, when it makes them of the options of a dispatch. That happens below the hook, so it
 * is asked about those that look as if.
 */

/** Headers that some versions refuse. */
const SUSPECT = /^(transfer-encoding|keep-alive|upgrade|expect)$/i;
/** A header that all versions take with one of two values. */
const CONNECTION = /^connection$/i;
const CONNECTIONS = /^(close|keep-alive)$/i;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const DIGITS = /^\d+$/;

/** Classes of dispatchers that a request can be tried with, and whether they are made for one origin; Node's own have an underscore before. */
const MADE_FOR_ONE = new Map([
  ["Agent", false],
  ["Client", true],
  ["Pool", true],
  ["BalancedPool", true],
  ["RoundRobinPool", true],
]);

/** Codes of errors about arguments. */
const REFUSALS = new Set(["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED"]);
/** Methods without a body, whose length undici does not compare. */
const BODILESS = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "CONNECT"]);

/** @param {any} ms @returns {boolean} whether it is a time limit, or none */
const isTime = (ms) => ms == null || (Number.isFinite(ms) && ms >= 0);

/** @param {any} body @returns {boolean} whether it is of no kind that undici sends */
const isUnknown = (body) =>
  body != null &&
  typeof body !== "string" &&
  !ArrayBuffer.isView(body) &&
  !types.isArrayBuffer(body) &&
  !(body[Symbol.asyncIterator] || body[Symbol.iterator] || typeof body.pipe === "function" || isBlob(body));

/** @param {any} body @returns {boolean} whether undici may refuse it: undici 8 takes no form of another copy */
const isJudged = (body) => isUnknown(body) || isForm(body);

/**
 * @param {any} opts of a dispatch
 * @returns {boolean} whether undici may refuse it
 */
const mayBeRefused = (opts) =>
  isJudged(opts.body) ||
  !isTime(opts.headersTimeout) ||
  !isTime(opts.bodyTimeout) ||
  opts.throwOnError != null ||
  ["reset", "expectContinue"].some((name) => opts[name] != null && typeof opts[name] !== "boolean") ||
  (opts.upgrade && typeof opts.upgrade !== "string") ||
  Array.isArray(opts.headers?.host) ||
  (Array.isArray(opts.headers) && opts.headers.length % 2 !== 0) ||
  !TOKEN.test(String(opts.method ?? "GET")) ||
  pairsOf(opts.headers).some(
    ([name, value]) =>
      SUSPECT.test(name) ||
      (CONNECTION.test(name) && !CONNECTIONS.test(value)) ||
      !TOKEN.test(name) ||
      !VALUE.test(value) ||
      (/^content-length$/i.test(name) && !DIGITS.test(value)),
  );

/**
 * @param {any} dispatcher
 * @returns {any} the global dispatcher of undici 8, if it is the one that undici 8 gives to older copies in its place
 */
function wrapped(dispatcher) {
  if (!/^_?Dispatcher1Wrapper$/.test(dispatcher.constructor?.name)) return undefined;
  const own = /** @type {any} */ (outer)[GLOBALS[1]];
  return own?.constructor === dispatcher.constructor ? undefined : own;
}

/**
 * Let the application's own copy of undici say whether it refuses a request, by a dispatcher that connects to nothing. It
 * refuses within the dispatch.
 * @param {any} dispatcher
 * @param {Function} original its `dispatch`
 * @param {any} opts
 * @returns {((handler: any) => boolean) | undefined} gives a handler the refusal, and returns or throws what undici's dispatch
 *   does then; `undefined` if undici takes the request
 */
function refusalOf(dispatcher, original, opts) {
  const { constructor: Made } = dispatcher;
  const isForOne = MADE_FOR_ONE.get(String(Made?.name).replace(/^_+/, ""));
  if (isForOne === undefined) {
    // Others hand the request to one of these.
    const inner = internal(dispatcher, "proxy agent") ?? wrapped(dispatcher);
    return inner && refusalOf(inner, inner.dispatch, opts);
  }
  const connect = (/** @type {any} */ _options, /** @type {(error: Error) => void} */ connected) =>
    connected(new Error("not connected"));
  const ignored = () => true;
  const origin = "http://localhost";
  const tried = { ...opts, origin, body: isJudged(opts.body) ? opts.body : null, signal: undefined };
  const tryWith = (/** @type {any} */ handler) => {
    const probe = bypass(() => (isForOne ? new Made(origin, { connect }) : new Made({ connect })));
    try {
      return original.call(probe, tried, handler);
    } finally {
      probe.destroy().catch(ignored);
    }
  };
  let isRefused = false;
  const tell = (/** @type {any} */ error) => {
    isRefused ||= REFUSALS.has(error?.code);
  };
  const handler = {
    onConnect: ignored,
    onRequestStart: ignored,
    onHeaders: ignored,
    onResponseStart: ignored,
    onData: ignored,
    onResponseData: ignored,
    onComplete: ignored,
    onResponseEnd: ignored,
    onUpgrade: ignored,
    onError: tell,
    onResponseError: (/** @type {any} */ _controller, /** @type {any} */ error) => tell(error),
  };
  try {
    bypass(() => tryWith(handler));
  } catch (error) {
    tell(error);
  }
  return isRefused ? tryWith : undefined;
}

/**
 * @param {any} dispatcher
 * @param {string} method
 * @param {headers.Pairs} pairs
 * @param {Buffer | null} body that is whole
 * @returns {Error | undefined} the error of a body whose length is not the one that is declared
 */
function lengthError(dispatcher, method, pairs, body) {
  const declared = headers.get(pairs, "content-length");
  if (declared === undefined || !body?.length || BODILESS.has(method)) return undefined;
  const isRight =
    Number.parseInt(declared, 10) === body.length || internal(dispatcher, "strict content length") === false;
  return isRight ? undefined : lengthMismatchError();
}

module.exports = { lengthError, mayBeRefused, refusalOf };
