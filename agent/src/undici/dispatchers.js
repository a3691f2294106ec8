"use strict";

const diagnostics = require("node:diagnostics_channel");
const EventEmitter = require("node:events");
const { callersOf, sitesOf } = require("../process/callers.js");

/** What every copy of undici since version 5 asks for while it is evaluated. */
const CHANNEL = "undici:request:create";

/** A file of Node's own copy, or of one that is a package of its own. A bundler may name parts of its file alike. */
const KNOWN = /^node:internal\/deps\/undici\/|^(file:\/\/|[\\/]|[A-Za-z]:).*[\\/]undici[^\\/]*[\\/]lib[\\/]/;

/**
 * Observe the construction of dispatchers, also of copies of undici that are not loaded by
 * `require`: each is an instance of Node's `EventEmitter`, in every context of `node:vm`.
 * @param {(dispatcher: any) => void} made called within its constructor
 * @returns {() => void} stops observing
 */
function onDispatcher(made) {
  const own = /** @type {any} */ (EventEmitter);
  const original = own.init;
  /** @this {any} */
  function init(/** @type {any[]} */ ...args) {
    if (isDispatcher(this)) made(this);
    return original.apply(this, args);
  }
  own.init = init;
  return () => {
    if (own.init === init) own.init = original;
  };
}

/**
 * Observe copies of undici that are part of another file, such as a bundle of the application: no module has their exports.
 * @param {() => void} found called once, while the first one is evaluated, and so before it makes a dispatcher
 * @returns {() => void} stops observing
 */
function onBundled(found) {
  const own = /** @type {any} */ (diagnostics);
  const original = own.channel;
  /** @this {any} */
  function channel(/** @type {any[]} */ ...args) {
    if (args[0] === CHANNEL && own.channel === channel && isBundled(callersOf(channel))) {
      own.channel = original;
      found();
    }
    return original.apply(this, args);
  }
  own.channel = channel;
  return () => {
    if (own.channel === channel) own.channel = original;
  };
}

/**
 * @param {{ stack?: string }} callers of a copy that is evaluated
 * @returns {boolean} whether it is neither Node's own nor a package, or that cannot be told
 */
const isBundled = (callers) => !KNOWN.test(sitesOf(callers)?.[0]?.getFileName() ?? "");

/** @param {any} emitter */
const isDispatcher = (emitter) =>
  typeof emitter.dispatch === "function" &&
  typeof emitter.destroy === "function" &&
  typeof emitter.close === "function";

/** The prototypes of all dispatchers of the copies of undici 8. @type {WeakSet<object>} */
const eighth = new WeakSet();

/** @param {any} undici the exports of a copy; only those of undici 8 wrap dispatchers for older ones */
function noteVersion({ Dispatcher, Dispatcher1Wrapper }) {
  if (Dispatcher && Dispatcher1Wrapper) eighth.add(Dispatcher.prototype);
}

/**
 * @param {any} dispatcher
 * @returns {any[]} what a handler gets at the start of a request, behind the controller: `null` from undici 8, else nothing
 */
function contextOf(dispatcher) {
  let at = dispatcher;
  while (at && !eighth.has(at)) at = Object.getPrototypeOf(at);
  return at ? [null] : [];
}

module.exports = { contextOf, noteVersion, onBundled, onDispatcher };
