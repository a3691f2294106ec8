"use strict";

const util = require("node:util");
const { outer } = require("../process/realm.js");

/** The file of Node's own undici, as call sites name it. */
const OWN_FILE = "node:internal/deps/undici/undici";
/** Where copies of undici look for a global dispatcher; Node's own looks at the first. */
const GLOBALS = [Symbol.for("undici.globalDispatcher.1"), Symbol.for("undici.globalDispatcher.2")];

/** From Node 22.9 on; without it Node's own undici cannot be told from others. @type {((frames: number) => { scriptName: string }[]) | undefined} */
const getCallSites = /** @type {any} */ (util).getCallSites;

/** What Node's own undici would have put at each symbol. @type {Map<symbol, any>} */
const kept = new Map();

/**
 * Read what Node loads its own undici for. The global dispatchers that it sets
 * while it loads are kept: the application has not used them, and a copy of
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
 * Set the global dispatchers that were kept, when Node's own undici is used or the
 * agent ends. Those of another copy of undici stay.
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

/** @returns {boolean} whether the getter that calls this is read by Node's own undici, which has loaded */
const isOwnReading = () => kept.size > 0 && getCallSites?.(3)[2]?.scriptName === OWN_FILE;

module.exports = { GLOBALS, loadOwn, settleOwn, isOwnReading };
