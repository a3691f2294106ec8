"use strict";

const EventEmitter = require("node:events");

/**
 * See dispatchers as they are made, of copies of undici that are loaded past
 * `require`: each is an event emitter, of Node's own class in every context.
 * @param {(dispatcher: any) => void} made called from within its constructor
 * @returns {() => void} stops looking
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
