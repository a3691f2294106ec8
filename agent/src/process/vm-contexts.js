"use strict";

const { syncBuiltinESMExports } = require("node:module");
const vm = require("node:vm");
const { sayOnce } = require("./say-once.js");

const { runInContext } = vm;

/** @param {any} context of `node:vm` @param {string} expression @returns {any} its value in the context */
const valueIn = (context, expression) => runInContext(expression, context);

/**
 * @param {any} context of `node:vm`
 * @returns {typeof globalThis} its global object, also where the sandbox has another `globalThis`, or none
 */
const globalOf = (context) => valueIn(context, "this");

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
      made(globalOf(context));
    } catch {
      // The sandbox is an object of the application, whose traps and getters may throw.
      sayOnce(
        "a context of node:vm cannot be changed, because its sandbox throws: requests of its own `fetch` are not seen",
      );
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

module.exports = { globalOf, onContext, valueIn };
