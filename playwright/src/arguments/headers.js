"use strict";

const { TOKEN, fromWire, toMap } = require("trafficmock-agent/protocol/headers");
const { UsageError } = require("../errors.js");

/**
 * Headers as tests pass and read them: ordered pairs with lower-case names.
 *
 * @typedef {[name: string, value: string][]} Pairs
 */

/** A value of a header, in latin-1 (RFC 9110 section 5.5). */
const VALUE = /^[^\0\r\n\u0100-\uffff]*$/;

/**
 * @param {unknown} given
 * @param {string} [option] how it is called, for errors
 * @throws {UsageError} it is not an object of names and values: entries of an array or a `Map` are not headers
 */
function entriesOf(given, option = "headers") {
  if (typeof given === "object" && given !== null && !(Symbol.iterator in given)) return Object.entries(given);
  const kind = given === null ? "null" : typeof given === "object" ? given.constructor.name : typeof given;
  throw new UsageError(`${option} are an object of names and values, not ${kind}`);
}

/**
 * Read headers whose values must be strings; a header with `undefined` is left out.
 * @param {Record<string, string | undefined>} headers
 * @returns {Pairs}
 * @throws {UsageError} a value is not a string
 */
function strict(headers) {
  for (const [name, value] of entriesOf(headers)) {
    if (value !== undefined && typeof value !== "string") {
      throw new UsageError(`the header ${name} must be a string, not ${typeof value}`);
    }
  }
  return lenient(headers);
}

/**
 * Read headers and convert values to strings; a header with `undefined` is left out.
 * @param {Record<string, unknown>} headers
 * @param {string} [option] how they are called, for errors
 * @returns {Pairs}
 */
function lenient(headers, option) {
  const given = entriesOf(headers, option).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => [name.toLowerCase(), String(value)]);
}

/**
 * Check that HTTP can carry the changed headers of a request (RFC 9110 section 5).
 * @param {Pairs} pairs
 * @returns {Pairs}
 * @throws {UsageError} it cannot carry a name or a value, which is not told: it may be secret
 */
function checked(pairs) {
  for (const [name, value] of pairs) {
    if (!TOKEN.test(name)) throw new UsageError(`${JSON.stringify(name)} is not a header name`);
    if (!VALUE.test(value)) {
      throw new UsageError(`the header ${JSON.stringify(name)} has a line break, a NUL or a character above U+00FF`);
    }
  }
  return pairs;
}

/**
 * @param {string} name
 * @returns {string} the name of a method (RFC 9110 section 9.1)
 * @throws {UsageError} it is no method
 */
function method(name) {
  if (!TOKEN.test(name)) throw new UsageError(`${JSON.stringify(name)} is not a method of HTTP`);
  return name;
}

/**
 * @param {{ headers?: Record<string, string>, headersList?: Pairs }} wire
 * @returns {Pairs}
 */
const read = (wire) => fromWire(wire).map(([name, value]) => [name.toLowerCase(), value]);

/**
 * Make the object that tests read: repeats are joined as in Playwright, `set-cookie` by a line feed.
 * @param {Pairs} pairs
 */
function toObject(pairs) {
  /** @type {Record<string, string>} */
  const object = toMap(pairs);
  const cookies = pairs.filter(([name]) => name === "set-cookie");
  if (cookies.length > 1) object["set-cookie"] = cookies.map(([, value]) => value).join("\n");
  return object;
}

/**
 * Convert headers for the wire: the map of protocol 3, and the list if a name repeats.
 * @param {Pairs} pairs
 * @returns {{ headers: Record<string, string>, headersList?: Pairs }}
 */
function toWire(pairs) {
  const isRepeated = new Set(pairs.map(([name]) => name)).size < pairs.length;
  return { headers: toMap(pairs), ...(isRepeated && { headersList: pairs }) };
}

/**
 * @param {Pairs} pairs
 * @param {string} name in any case (RFC 9110, section 5.1)
 * @returns {string | undefined} the value, repeats joined
 */
const get = (pairs, name) => {
  const key = name.toLowerCase();
  const found = pairs.filter(([each]) => each === key);
  return found.length ? toObject(found)[key] : undefined;
};

module.exports = { checked, get, lenient, method, read, strict, toObject, toWire };
