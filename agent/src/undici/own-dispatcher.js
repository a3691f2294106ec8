"use strict";

const util = require("node:util");
const { outer } = require("../process/realm.js");

/** The script name of Node's own undici in call sites. */
const OWN_FILE = "node:internal/deps/undici/undici";
/** The symbols at which copies of undici look up a global dispatcher; Node's own uses the first. */
const GLOBALS = [Symbol.for("undici.globalDispatcher.1"), Symbol.for("undici.globalDispatcher.2")];

/** Available from Node 22.9 on; without it Node's own undici cannot be distinguished from others. @type {((frames: number) => { scriptName: string }[]) | undefined} */
const getCallSites = /** @type {any} */ (util).getCallSites;

/** The global dispatchers that Node's own undici would have set, by symbol. @type {Map<symbol, any>} */
const kept = new Map();

/**
 * Read a value for which Node loads its own undici. The global dispatchers that it sets
 * while it loads are kept here: the application has not used them, and a copy of
 * undici from npm that is loaded later must set its own, as without the agent.
 * @template T
 * @param {() => T} read
 * @returns {T} what `read` returns
 */
function loadOwn(read) {
  if (!getCallSites) return read();
  const { Object: own } = outer;
  const original = own.defineProperty;
  own.defineProperty = /** @type {any} */ (
    (/** @type {any} */ target, /** @type {any} */ key, /** @type {any} */ descriptor) => {
      if (target !== outer || !GLOBALS.includes(key) || !isExpected(key)) return original(target, key, descriptor);
      kept.set(key, descriptor.value);
      return target;
    }
  );
  try {
    return read();
  } finally {
    own.defineProperty = original;
  }
}

/** @param {symbol} symbol */
const isExpected = (symbol) => Boolean(Object.getOwnPropertyDescriptor(outer, symbol)?.get);

/**
 * Restore the original global dispatchers, because Node's own undici is used or the agent ends, unless another copy of
 * undici has replaced them.
 */
function settleOwn() {
  if (kept.size && isExpected(GLOBALS[0])) {
    for (const [symbol, value] of kept) {
      if (!isExpected(symbol)) continue;
      Object.defineProperty(outer, symbol, { value, writable: true, enumerable: false, configurable: false });
    }
  }
  kept.clear();
}

/** @returns {boolean} whether Node's own undici reads the getter that calls this function */
const isOwnReading = () => kept.size > 0 && getCallSites?.(3)[2]?.scriptName === OWN_FILE;

module.exports = { GLOBALS, loadOwn, settleOwn, isOwnReading };
