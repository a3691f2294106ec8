"use strict";

/**
 * Read a property whose key is a private symbol, for example of undici.
 * @param {any} object
 * @param {string} description of the symbol
 */
function internal(object, description) {
  const key = internalKey(object, description);
  return key && object[key];
}

/**
 * @param {any} object
 * @param {string} description of a private symbol
 * @returns {symbol | undefined} that symbol, if it is the key of a property of the object
 */
function internalKey(object, description) {
  for (let at = object; at; at = Object.getPrototypeOf(at)) {
    const symbol = Object.getOwnPropertySymbols(at).find((one) => one.description === description);
    if (symbol) return symbol;
  }
  return undefined;
}

module.exports = { internal, internalKey };
