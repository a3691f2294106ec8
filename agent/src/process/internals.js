"use strict";

/**
 * Read a property whose key is a private symbol, for example of undici.
 * @param {any} object
 * @param {string} description of the symbol
 */
function internal(object, description) {
  for (let at = object; at; at = Object.getPrototypeOf(at)) {
    const symbol = Object.getOwnPropertySymbols(at).find((one) => one.description === description);
    if (symbol) return object[symbol];
  }
  return undefined;
}

module.exports = { internal };
