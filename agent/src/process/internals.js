"use strict";

/**
 * @param {any} object
 * @param {string} description of one of undici's own symbols, which it does not export
 */
function internal(object, description) {
  for (let at = object; at; at = Object.getPrototypeOf(at)) {
    const symbol = Object.getOwnPropertySymbols(at).find((one) => one.description === description);
    if (symbol) return object[symbol];
  }
  return undefined;
}

module.exports = { internal };
