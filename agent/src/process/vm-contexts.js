"use strict";

const vm = require("node:vm");
const { runInContext } = vm;
const { syncBuiltinESMExports } = require("node:module");

/**
 * Observe new contexts of `node:vm`: a test runner loads the application into one,
 * without `require`.
 * @param {(realm: typeof globalThis) => void} made called with the global object of each, before code runs in it
 * @returns {() => void} stops observing
 */
function onContext(made) {
  const own = /** @type {any} */ (vm);
  const original = own.createContext;
  /** @this {any} */
  function createContext(/** @type {any[]} */ ...args) {
    const context = original.apply(this, args);
    try {
      // Not `globalThis`, which is a property that a sandbox may have otherwise.
      made(runInContext("this", context));
    } catch {
      // An object of the application is the sandbox, and its traps and getters may throw: nothing in it is changed then.
    }
    return context;
  }
  own.createContext = createContext;
  syncBuiltinESMExports();
  return () => {
    if (own.createContext !== createContext) return;
    own.createContext = original;
    syncBuiltinESMExports();
  };
}

module.exports = { onContext };
