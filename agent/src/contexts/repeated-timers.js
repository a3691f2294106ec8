"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const { syncBuiltinESMExports } = require("node:module");
const timers = require("node:timers");

/**
 * Run what comes back again and again (a poller, a cron, a flush) without the context of the request that started it, once
 * that request is over: it then works for the whole application. So it is with the ticks of an interval, and with a timer
 * that is started by another one, which itself began after the request.
 *
 * @param {import('./test-contexts.js').TestContexts} contexts
 * @returns {() => void} undoes it
 */
function hookRepeatedTimers(contexts) {
  const { isOn, storage } = contexts;
  if (!isOn) return () => {};
  /** The context in which a timer began after the request, while it and what it causes runs. @type {AsyncLocalStorage<object>} */
  const late = new AsyncLocalStorage();
  const inNone = { context: undefined, without: { kind: "timer", name: "" } };

  /** @type {(callback: Function, context: import('./test-contexts.js').TestContext, isRepeated: boolean) => Function} */
  const tickOf = (callback, context, isRepeated) => {
    let isAgain = isRepeated || late.getStore() === context;
    return /** @this {any} */ function (/** @type {any[]} */ ...args) {
      const tick = () => callback.apply(this, args);
      // Of a test of this process that has ended, it is no other test's.
      const isOwn = context.isRunning !== undefined;
      if (isOwn || context.closedAt === undefined) return tick();
      if (isAgain) return contexts.within(inNone, tick);
      // A timer can be started anew, by its method `refresh`.
      isAgain = true;
      return late.run(context, tick);
    };
  };

  const undo = [true, false].flatMap((isRepeated) => {
    const name = isRepeated ? "setInterval" : "setTimeout";
    const original = /** @type {any} */ (timers[name]);
    /** @this {any} */
    const changed = function (/** @type {any} */ callback, /** @type {any[]} */ ...rest) {
      const context = storage.getStore();
      const isPlain = !context || typeof callback !== "function";
      return original.call(this, isPlain ? callback : tickOf(callback, context, isRepeated), ...rest);
    };
    Object.defineProperties(changed, Object.getOwnPropertyDescriptors(original));
    return [timers, globalThis].map((place) => replace(place, name, original, changed));
  });
  syncBuiltinESMExports();
  return () => {
    for (const act of undo) act();
    syncBuiltinESMExports();
  };
}

/** Replace a function, unless somebody else has. @param {any} place @param {string} name @param {any} original @param {any} changed */
function replace(place, name, original, changed) {
  if (place[name] === original) place[name] = changed;
  return () => {
    if (place[name] === changed) place[name] = original;
  };
}

module.exports = { hookRepeatedTimers };
