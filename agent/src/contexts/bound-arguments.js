"use strict";

/**
 * @param {any} owner
 * @param {string[]} names of methods that keep the functions they are given
 * @param {import('./queues.js').Bindings} bindings
 */
function bindArguments(owner, names, { bound }) {
  for (const name of names) {
    const original = owner?.[name];
    if (!original) continue;
    owner[name] = /** @this {any} */ function (/** @type {any[]} */ ...args) {
      return original.apply(this, args.map(bound));
    };
  }
}

module.exports = { bindArguments };
