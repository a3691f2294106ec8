"use strict";

const { isMentioned, withMember } = require("../contexts/context-headers.js");

/** The header of a message with the context of a test (W3C Baggage), as by OpenTelemetry's instrumentations. */
const HEADER = "baggage";

/** @typedef {import('../contexts/test-contexts.js').TestContexts} TestContexts */
/** @typedef {import('../contexts/test-contexts.js').TestContext} TestContext */

/**
 * The value of the header for a message that is sent now.
 * @param {TestContexts} contexts
 * @param {unknown} present its value in the application's message
 * @returns {string | undefined} nothing without a context, or where the message has one already. The id of a trace is not
 *   added: the application's own tracing carries it
 */
function baggageOf(contexts, present) {
  const context = contexts.current();
  const text = textOf(present);
  if (!context?.isForwarded || (text === undefined && present != null) || isMentioned(text ?? "")) return undefined;
  return withMember(text, context.id);
}

/**
 * @param {TestContexts} contexts
 * @param {any} headers of a message
 * @returns {any} them with the context, in a copy, or the same object
 */
function withBaggage(contexts, headers) {
  const baggage = baggageOf(contexts, headers?.[HEADER]);
  return baggage === undefined ? headers : { ...headers, [HEADER]: baggage };
}

/**
 * Read the context of a message that is received now.
 * @param {TestContexts} contexts
 * @param {any} headers
 * @returns {TestContext | undefined}
 */
const contextIn = (contexts, headers) =>
  contexts.begin({ baggage: textOf(headers?.[HEADER]), traceparent: textOf(headers?.traceparent) });

/**
 * Handle a message in its context, or in none. A context that begins with the message lasts until the promise that is
 * returned is settled.
 * @template T
 * @param {TestContexts} contexts
 * @param {TestContext | undefined} context
 * @param {() => T} act
 * @param {import('../contexts/test-contexts.js').Without} [without] why it has none
 * @returns {T}
 */
function handle(contexts, context, act, without) {
  const isOwn = context !== contexts.storage.getStore();
  const result = contexts.within({ context, without }, act);
  if (context && isOwn && typeof (/** @type {any} */ (result)?.then) === "function") {
    const close = () => contexts.known.close(context);
    /** @type {any} */ (result).then(close, close);
  }
  return result;
}

/**
 * @param {unknown} value of a header: Kafka's are bytes, and may be lists
 * @returns {string | undefined}
 */
function textOf(value) {
  const one = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return Buffer.isBuffer(one) ? one.toString() : typeof one === "string" ? one : undefined;
}

module.exports = { HEADER, baggageOf, contextIn, handle, withBaggage };
