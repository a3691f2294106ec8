"use strict";

const EventEmitter = require("node:events");

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

/** @param {any} emitter */
const isDispatcher = (emitter) =>
  typeof emitter.dispatch === "function" &&
  typeof emitter.destroy === "function" &&
  typeof emitter.close === "function";

module.exports = { onDispatcher };
