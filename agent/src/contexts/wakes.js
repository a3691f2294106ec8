"use strict";

const { promiseHooks } = require("node:v8");

/** @typedef {import('./test-contexts.js').TestContext} TestContext */
/** @typedef {import('./test-contexts.js').TestContexts} TestContexts */

/**
 * Node carries a context along the promises and callbacks that code waits for, whoever lets it go on. So a loop that a
 * request has begun keeps that request's context, also while it works off what other requests give it. Nothing in Node says
 * whose such work is. What shows is that one request's code settles a promise that another one's code has made: it wakes
 * it. In these two cases the work that goes on is nobody's from then on:
 *
 * - its own request is over, and it is woken by the request of another test, or wakes that: it works for that one;
 * - its own request is over, and it has to do in this way with work of two more requests, which are over, too.
 *
 * While its request lasts, waking others is the rule, not the exception: whoever returns a connection to a pool does so.
 */
class Wakes {
  /** @param {TestContexts} contexts */
  constructor(contexts) {
    this.contexts = contexts;
    /** @type {Function[] | undefined} what undoes the hooks */
    this.undo = undefined;
  }

  /** Watch promises from now on: a context has come in. It costs some 0.1 µs for each promise that is made in a context. */
  watch() {
    if (this.undo) return;
    const { storage, without } = this.contexts;
    this.undo = [
      promiseHooks.onInit((promise) => {
        const context = storage.getStore();
        if (context) new Made(promise, context);
      }),
      promiseHooks.onSettled((promise) => {
        const made = Made.in(promise);
        if (!made) return;
        const now = storage.getStore();
        if (now === made || now?.id === made.id) return;
        if (made.closedAt === undefined) {
          if (now && now.closedAt !== undefined) now.isShared = true;
        } else if (now?.closedAt !== undefined) {
          woke(made, now);
          woke(now, made);
        } else if (now || isOfOthers(without.getStore())) made.isShared = true;
      }),
    ];
  }

  stop() {
    for (const act of this.undo ?? []) act();
    this.undo = undefined;
  }
}

/**
 * Note that work after its request woke another one's, or was woken by it. Once it may wait for a place in a pool.
 * @param {TestContext} context
 * @param {TestContext} other
 */
function woke(context, other) {
  context.partner ??= other;
  if (context.partner !== other) context.isShared = true;
}

/** @param {import('./test-contexts.js').Without | undefined} without @returns {boolean} whether it is a request, or a message for anybody */
const isOfOthers = (without) => without !== undefined && ("path" in without || without.kind === "message");

/** Returns what a subclass adds its private field to, so that no application sees it. */
const Itself = /** @type {any} */ (
  function (/** @type {object} */ given) {
    return given;
  }
);

/** The context in which a promise was made, in a field of the promise: a map would cost three times as much. */
class Made extends Itself {
  /** @type {TestContext} */
  #context;

  /** @param {object} promise @param {TestContext} context */
  constructor(promise, context) {
    super(promise);
    this.#context = context;
  }

  /** @param {object} promise @returns {TestContext | undefined} */
  static in(promise) {
    return #context in promise ? promise.#context : undefined;
  }
}

module.exports = { Wakes };
