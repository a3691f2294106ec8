"use strict";

const util = require("node:util");
const { outer } = require("../process/realm.js");

/** The script name of Node's own undici in call sites. */
const OWN_FILE = "node:internal/deps/undici/undici";
/** The symbols at which copies of undici look up a global dispatcher; Node's own uses the first. */
const GLOBALS = [Symbol.for("undici.globalDispatcher.1"), Symbol.for("undici.globalDispatcher.2")];

/** Available from Node 22.9 on; without it Node's own undici cannot be distinguished from others. @type {((frames: number) => { scriptName: string }[]) | undefined} */
const getCallSites = /** @type {any} */ (util).getCallSites;

/**
 * The classes of the global object for which Node loads its own undici when they are read; `WebSocket` is one more, see
 * `WebSocketHook`.
 */
const CLASSES = ["FormData", "Headers", "Request", "Response", "MessageEvent", "CloseEvent", "EventSource"];

/** The global dispatchers that Node's own undici would have set, by symbol. @type {Map<symbol, any>} */
const kept = new Map();
/**
 * The symbol at which Node's own undici looks for a global dispatcher, which it read while it loaded. If there is none,
 * it sets all of its own: Node 26 looks at the second symbol, and replaces the dispatcher of undici 6 at the first.
 * @type {symbol | undefined}
 */
let lookedAt;
let isLoading = false;
/** Told that the application uses Node's own undici. @type {() => void} */
let used = () => {};
/** Undo the notice of the first use, by class. @type {(() => void)[]} */
const noticed = [];

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
      if (target !== outer || !GLOBALS.includes(key) || !lookedAt) return original(target, key, descriptor);
      kept.set(key, descriptor.value);
      return target;
    }
  );
  isLoading = true;
  try {
    return read();
  } finally {
    isLoading = false;
    own.defineProperty = original;
    if (kept.size && noticed.length === 0) CLASSES.forEach(notice);
  }
}

/**
 * Notice that the application reads a class, by which Node would load its own undici.
 * @param {string} name
 */
function notice(name) {
  const plain = Object.getOwnPropertyDescriptor(outer, name);
  if (!plain?.configurable || !("value" in plain)) return;
  const { enumerable } = plain;
  const get = () => {
    useOwn();
    return plain.value;
  };
  const set = (/** @type {any} */ value) => {
    Object.defineProperty(outer, name, { ...plain, value });
  };
  Object.defineProperty(outer, name, { get, set, enumerable, configurable: true });
  noticed.push(() => {
    if (Object.getOwnPropertyDescriptor(outer, name)?.get === get) Object.defineProperty(outer, name, plain);
  });
}

/** Tell that the application uses Node's own undici, unless it is the agent that reads the value. */
function useOwn() {
  if (!kept.size || isLoading) return;
  forgetClasses();
  used();
}

/** Make the classes plain properties again. */
function forgetClasses() {
  for (const restore of noticed.splice(0)) restore();
}

/**
 * @param {() => void} act called when the application uses Node's own undici; it has to call `settleOwn`
 * @returns {() => void} undoes it
 */
function onUse(act) {
  used = act;
  return () => {
    if (used === act) used = () => {};
  };
}

/** @param {symbol} symbol */
const isExpected = (symbol) => Boolean(Object.getOwnPropertyDescriptor(outer, symbol)?.get);

/**
 * Set the global dispatchers that Node's own undici would have set, because it is used or the agent ends, unless
 * another copy of undici has set the one that it looks for.
 * @param {boolean} [isUsed] if not, what another copy has set stays
 */
function settleOwn(isUsed = true) {
  forgetClasses();
  if (lookedAt && isExpected(lookedAt)) {
    for (const [symbol, value] of kept) {
      if (!isUsed && !isExpected(symbol)) continue;
      Object.defineProperty(outer, symbol, { value, writable: true, enumerable: false, configurable: false });
    }
  }
  kept.clear();
  lookedAt = undefined;
}

/**
 * @param {symbol} symbol
 * @returns {boolean} whether Node's own undici reads the getter of this symbol, which calls this function, to use it
 */
function isOwnReading(symbol) {
  if (isLoading) lookedAt ??= symbol;
  return !isLoading && kept.size > 0 && getCallSites?.(3)[2]?.scriptName === OWN_FILE;
}

module.exports = { GLOBALS, loadOwn, onUse, useOwn, settleOwn, isOwnReading };
