"use strict";

const { syncBuiltinESMExports } = require("node:module");
const timers = require("node:timers");

/**
 * Run the ticks of an interval without the context of the request that started it, once that request is over: what comes
 * back again and again (a poller, a cron, a flush) then works for the whole application.
 *
 * @param {import('./test-contexts.js').TestContexts} contexts
 * @returns {() => void} undoes it
 */
function hookIntervals({ isOn, storage }) {
  if (!isOn) return () => {};
  const original = timers.setInterval;
  const places = [timers, globalThis].filter((place) => place.setInterval === original);
  /** @this {any} */
  function setInterval(/** @type {any} */ callback, /** @type {any[]} */ ...rest) {
    const context = storage.getStore();
    const isPlain = !context || typeof callback !== "function";
    return original.call(this, isPlain ? callback : tickOf(callback, context), ...rest);
  }
  /**
   * @param {Function} callback
   * @param {import('./test-contexts.js').TestContext} context
   */
  const tickOf = (callback, context) =>
    /** @this {any} */
    function (/** @type {any[]} */ ...args) {
      const tick = () => callback.apply(this, args);
      // Of a test of this process that has ended, it is no other test's.
      const isOwn = context.isRunning !== undefined;
      return isOwn || context.closedAt === undefined ? tick() : storage.run(undefined, tick);
    };
  for (const place of places) place.setInterval = /** @type {any} */ (setInterval);
  syncBuiltinESMExports();
  return () => {
    for (const place of places) {
      if (place.setInterval === /** @type {any} */ (setInterval)) place.setInterval = original;
    }
    syncBuiltinESMExports();
  };
}

module.exports = { hookIntervals };
