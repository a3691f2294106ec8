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
 * But then a queue shows by what it does with the first job, that of its own request: it *hands over* the result, it settles
 * a promise that was made before and that is not its own result, and goes on. What goes on after that, in the same callback
 * or in what waits for the end of it, does not work for the request any more, as far as anybody can tell. It counts as
 * nobody's while other tests are known. What waits for the promise goes on as before. Where a response is ended by the code of
 * another test, the application hands over by callbacks: from then on, ending a response counts like settling a promise.
 */
class Wakes {
  /** @param {TestContexts} contexts */
  constructor(contexts) {
    this.contexts = contexts;
    /** @type {Function[] | undefined} what undoes the hooks */
    this.undo = undefined;
    /** The number of the callback of a promise that runs, to tell what was made before it. */
    this.turn = 0;
    /** Whether code of one test ends responses to another one. */
    this.isEndedByOthers = false;
    /** What that callback settles at its end. @type {Making | undefined} */
    this.running = undefined;
    /** What was settled last, if nothing has been made since: the promise of a function that ends. @type {Making | undefined} */
    this.result = undefined;
  }

  /** Watch promises from now on: a context has come in. It costs some 0.6 µs for each promise that is made in a context. */
  watch() {
    if (this.undo) return;
    const { storage, without } = this.contexts;
    this.undo = [
      promiseHooks.onInit((promise, parent) => {
        this.result = undefined;
        const context = storage.getStore();
        if (context) new Noted(promise, new Making(context, this.turn, parent && Noted.in(parent)));
      }),
      promiseHooks.onBefore((promise) => {
        this.turn += 1;
        this.result = undefined;
        const making = Noted.in(promise);
        this.running = making;
        if (!making?.before) return;
        if (making.before.isAfter) this.goOnAfter(promise, making.context);
        making.before = undefined;
      }),
      promiseHooks.onSettled((promise) => {
        const making = Noted.in(promise);
        if (!making) return;
        const current = storage.getStore();
        if (current?.id === making.context.id) return void this.settledByItself(making, current);
        const made = wholeOf(making.context);
        const now = current && wholeOf(current);
        if (made.closedAt === undefined) {
          if (now && now.closedAt !== undefined) now.isShared = true;
        } else if (now?.closedAt !== undefined) {
          woke(made, now);
          woke(now, made);
        } else if (now || isOfOthers(without.getStore())) made.isShared = true;
      }),
    ];
  }

  /**
   * Note that code has settled a promise of its own context: as its result, at the end, or one that was made before.
   * @param {Making} making
   * @param {TestContext} now
   */
  settledByItself(making, now) {
    const { context, isDerived } = making;
    if (making === this.running && this.result) this.result.isAfter = true;
    this.result = undefined;
    if (now.whole) {
      if (wholeOf(context) !== now.whole) return;
      if (isDerived) making.isAfter = true;
      else this.result = making;
    } else if (now === context && !isDerived && making.turn !== this.turn) {
      this.contexts.storage.enterWith(afterHandingOver(context));
    }
  }

  /**
   * Note that the code that runs ends the response to a request.
   * @param {TestContext} context of the request
   */
  ended(context) {
    const { storage } = this.contexts;
    const now = storage.getStore();
    if (!now) return;
    if (now.id !== context.id) {
      this.isEndedByOthers = true;
      if (now.closedAt !== undefined) wholeOf(now).isShared = true;
    }
    if (this.isEndedByOthers) storage.enterWith(afterHandingOver(now));
  }

  /**
   * Let what waits for a promise go on without a context that counts.
   * @param {any} promise of what goes on
   * @param {TestContext} context
   */
  goOnAfter(promise, context) {
    const { storage } = this.contexts;
    const after = afterHandingOver(context);
    // Before Node 24 the promise keeps its context, and Node's own hook, which comes later, enters it.
    const { kResourceStore: key } = /** @type {any} */ (storage);
    if (key) promise[key] = after;
    else storage.enterWith(after);
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

/**
 * @param {TestContext} context
 * @returns {TestContext} what stands for it in code that has handed over a result
 */
function afterHandingOver(context) {
  if (context.whole) return context;
  context.after ??= Object.create(context, { whole: { value: context } });
  return /** @type {TestContext} */ (context.after);
}

/** @param {TestContext} context @returns {TestContext} the context itself */
const wholeOf = (context) => context.whole ?? context;

/** What is known of a promise. */
class Making {
  /** @param {TestContext} context in which it was made @param {number} turn @param {Making | undefined} before what it waits for */
  constructor(context, turn, before) {
    this.context = context;
    this.turn = turn;
    this.before = before;
    this.isDerived = before !== undefined;
    /** Whether it was settled by code that had handed over a result before. */
    this.isAfter = false;
  }
}

/** A promise with what is known of it in a field: a map would cost three times as much. */
class Noted extends Itself {
  /** @type {Making} */
  #making;

  /** @param {object} promise @param {Making} making */
  constructor(promise, making) {
    super(promise);
    this.#making = making;
  }

  /** @param {object} promise @returns {Making | undefined} */
  static in(promise) {
    return #making in promise ? promise.#making : undefined;
  }
}

module.exports = { Wakes, afterHandingOver, wholeOf };
