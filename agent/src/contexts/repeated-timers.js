"use strict";

const { AsyncLocalStorage, executionAsyncId } = require("node:async_hooks");
const { syncBuiltinESMExports } = require("node:module");
const timers = require("node:timers");
const { afterHandingOver, wholeOf } = require("./wakes.js");

/** @typedef {import('./test-contexts.js').TestContext} TestContext */
/** @typedef {import('./test-contexts.js').TestContexts} TestContexts */

/** The key of what is known of a timer, at the function that it calls. */
const TICK = Symbol("tick");

const FOR_ALL = { kind: "timer", name: "" };

/**
 * Node runs a timer in the context of the request that started it. But the timer may be one that the whole application
 * shares. Two kinds show themselves, and run without that context:
 *
 * - What comes back again and again (a poller, a cron, a flush), once the request that started it is over: the ticks of an
 *   interval, and a timer that is started by another one, which itself began after the request.
 * - The one timer of a schedule, which is set to its earliest date, also while the request lasts: a timer that another one's
 *   callback starts before it returns, or that fires a second time; one that is started in place of a timer with the same
 *   code, which was cleared just before; one that the request of another test sets back by `refresh`. It counts as nobody's
 *   while other tests are known.
 *
 * @param {TestContexts} contexts
 * @returns {() => void} undoes it
 */
function hookRepeatedTimers(contexts) {
  if (!contexts.isOn) return () => {};
  const ticks = new Ticks(contexts);
  const undo = [true, false].flatMap((isRepeated) => {
    const name = isRepeated ? "setInterval" : "setTimeout";
    return replace(name, (original) => {
      /** @this {any} */
      const changed = function (/** @type {any} */ callback, /** @type {any[]} */ ...rest) {
        const context = contexts.storage.getStore();
        const isPlain = !context || typeof callback !== "function";
        return original.call(this, isPlain ? callback : ticks.of(callback, context, isRepeated), ...rest);
      };
      return Object.defineProperties(changed, Object.getOwnPropertyDescriptors(original));
    });
  });
  undo.push(
    ...replace("clearTimeout", (original) =>
      Object.defineProperties(
        /** @this {any} */
        function (/** @type {any} */ timer) {
          ticks.clear(timer);
          return original.call(this, timer);
        },
        Object.getOwnPropertyDescriptors(original),
      ),
    ),
    hookRefresh(ticks),
  );
  syncBuiltinESMExports();
  return () => {
    for (const act of undo) act();
    syncBuiltinESMExports();
  };
}

/** What is known of the timers of requests. */
class Ticks {
  /** @param {TestContexts} contexts */
  constructor(contexts) {
    this.contexts = contexts;
    /** The context in which a timer began after the request, while it and what it causes runs. @type {AsyncLocalStorage<object>} */
    this.late = new AsyncLocalStorage();
    /** The callbacks of timers that were cleared in one callback, and which one. */
    this.cleared = { callbacks: /** @type {Function[]} */ ([]), asyncId: -1, turn: -1 };
  }

  /**
   * @param {Function} callback
   * @param {TestContext} context
   * @param {boolean} isRepeated
   * @returns {Function} what a timer is to call in the place of the callback
   */
  of(callback, context, isRepeated) {
    const ticks = this;
    const tick = new Tick(callback, context);
    const whole = wholeOf(context);
    tick.isAgain = isRepeated || this.late.getStore() === whole;
    tick.isShared = !isRepeated && (this.isWithinTick(whole) || this.isReset(callback));
    /** @this {any} */
    const run = function (/** @type {any[]} */ ...args) {
      return ticks.run(tick, isRepeated, () => callback.apply(this, args));
    };
    run[TICK] = tick;
    return run;
  }

  /**
   * @param {Tick} tick
   * @param {boolean} isRepeated
   * @param {() => any} act
   */
  run(tick, isRepeated, act) {
    const { contexts, late } = this;
    const { context, isAgain, isShared } = tick;
    const whole = wholeOf(context);
    // Of a test of this process that has ended, it is no other test's.
    const isOver = whole.isRunning === undefined && whole.closedAt !== undefined;
    if (isOver && isAgain) return contexts.within({ context: undefined, without: FOR_ALL }, act);
    // A timer can be started anew, by its method `refresh`.
    if (isOver) tick.isAgain = true;
    if (!isRepeated) tick.isShared = true;
    const run = () => (isRepeated ? act() : this.within(whole, act));
    const inContext = () =>
      isShared ? contexts.within({ context: afterHandingOver(context), without: FOR_ALL }, run) : run();
    return isOver ? late.run(whole, inContext) : inContext();
  }

  /**
   * @param {TestContext} context of a timer
   * @param {() => any} act what it calls
   */
  within(context, act) {
    const { contexts } = this;
    contexts.ticking = { context, asyncId: executionAsyncId() };
    try {
      return act();
    } finally {
      contexts.ticking = undefined;
    }
  }

  /** @param {TestContext} context @returns {boolean} whether a callback of its timers has not returned, and nothing bound has been called by it */
  isWithinTick(context) {
    const { ticking } = this.contexts;
    return ticking?.context === context && ticking.asyncId === executionAsyncId();
  }

  /** @param {any} timer that is cleared */
  clear(timer) {
    const callback = timer?._onTimeout;
    if (typeof callback !== "function" || this.contexts.known.byId.size === 0) return;
    if (!this.isSameTurn()) {
      this.cleared = { callbacks: [], asyncId: executionAsyncId(), turn: this.contexts.wakes.turn };
    }
    this.cleared.callbacks.push(Tick.in(timer)?.callback ?? callback);
  }

  /** @returns {boolean} whether the callback in which timers were cleared last still runs */
  isSameTurn() {
    const { asyncId, turn } = this.cleared;
    return turn === this.contexts.wakes.turn && asyncId === executionAsyncId();
  }

  /** @param {Function} callback @returns {boolean} whether a timer with this code was cleared just before */
  isReset(callback) {
    const { callbacks } = this.cleared;
    return callbacks.length > 0 && this.isSameTurn() && callbacks.some((one) => isSameCode(one, callback));
  }

  /** @param {any} timer that is set back */
  refresh(timer) {
    const tick = Tick.in(timer);
    if (tick && this.contexts.storage.getStore()?.id !== tick.context.id) tick.isShared = true;
  }
}

/** What is known of a timer. */
class Tick {
  /** @param {Function} callback @param {TestContext} context */
  constructor(callback, context) {
    this.callback = callback;
    this.context = context;
    /** Whether it works for everyone once its request is over. */
    this.isAgain = false;
    /** Whether others may share it also while its request lasts. */
    this.isShared = false;
  }

  /** @param {any} timer @returns {Tick | undefined} */
  static in(timer) {
    return timer?._onTimeout?.[TICK];
  }
}

/** @param {Function} one @param {Function} another @returns {boolean} whether both are made by the same place in the code, as far as their text says */
function isSameCode(one, another) {
  if (one === another) return true;
  if (one.name !== another.name || one.length !== another.length) return false;
  const text = String(one);
  // A bound function has the name of the function it is made of; what settles a promise has none.
  return text === String(another) && (one.name !== "" || !text.endsWith("{ [native code] }"));
}

/** @param {Ticks} ticks @returns {() => void} undoes it */
function hookRefresh(ticks) {
  const timer = setTimeout(() => {}, 0);
  clearTimeout(timer);
  const owner = Object.getPrototypeOf(timer);
  const original = owner.refresh;
  /** @this {any} */
  const refresh = function () {
    ticks.refresh(this);
    return original.call(this);
  };
  owner.refresh = refresh;
  return () => {
    if (owner.refresh === refresh) owner.refresh = original;
  };
}

/**
 * Replace a function of timers, unless somebody else has.
 * @param {"setTimeout" | "setInterval" | "clearTimeout"} name
 * @param {(original: any) => any} change
 * @returns {(() => void)[]} undo it
 */
function replace(name, change) {
  const original = timers[name];
  const changed = change(original);
  return [/** @type {any} */ (timers), globalThis].map((place) => {
    if (place[name] === original) place[name] = changed;
    return () => {
      if (place[name] === changed) place[name] = original;
    };
  });
}

module.exports = { hookRepeatedTimers };
