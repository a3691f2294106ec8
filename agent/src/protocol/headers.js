"use strict";

/**
 * Header lines as ordered pairs `[name, value]`, which is how they travel with
 * the feature `headers-list`; beside them the map that protocol 3 always has.
 * Bytes are latin-1, as in HTTP itself.
 *
 * @typedef {[string, string][]} Pairs
 */

/**
 * @param {Pairs} pairs
 * @returns {Record<string, string>} lower-case names; repeats joined with `, `
 */
function toMap(pairs) {
  /** @type {Record<string, string>} */
  const map = {};
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    const known = Object.hasOwn(map, key) ? map[key] : undefined;
    const joined = known === undefined ? value : known + (key === "cookie" ? "; " : ", ") + value;
    // A plain assignment of `__proto__` would set the prototype.
    if (key === "__proto__") {
      Object.defineProperty(map, key, { value: joined, enumerable: true, configurable: true, writable: true });
    } else map[key] = joined;
  }
  return map;
}

/**
 * The pairs of a wire object: its list, or its map when the peer sent no list.
 * @param {{ headers?: Record<string, string>, headersList?: Pairs }} wire
 * @returns {Pairs}
 */
function fromWire(wire) {
  if (wire.headersList) return wire.headersList.map(([name, value]) => [name, value]);
  /** @type {Pairs} */
  const pairs = [];
  for (const [name, value] of Object.entries(wire.headers ?? {})) {
    // The npm fixture joins several cookies of a HAR with a line feed.
    if (name.toLowerCase() === "set-cookie") {
      for (const line of value.split("\n")) pairs.push([name, line]);
    } else pairs.push([name, value]);
  }
  return pairs;
}

/**
 * @param {(string | Buffer)[]} raw names and values in turn, as Node and undici have them
 * @returns {Pairs}
 */
function fromRaw(raw) {
  /** @type {Pairs} */
  const pairs = [];
  for (let i = 0; i + 1 < raw.length; i += 2) pairs.push([text(raw[i]), text(raw[i + 1])]);
  return pairs;
}

/** @param {string | Buffer} value */
const text = (value) => (typeof value === "string" ? value : Buffer.from(value).toString("latin1"));

/**
 * @param {Pairs} pairs
 * @param {string} name lower-case
 * @returns {string | undefined} the first value
 */
function get(pairs, name) {
  return pairs.find(([key]) => key.toLowerCase() === name)?.[1];
}

/**
 * @param {Pairs} pairs
 * @param {...string} names lower-case
 * @returns {Pairs} without the lines of these names
 */
function without(pairs, ...names) {
  return pairs.filter(([key]) => !names.includes(key.toLowerCase()));
}

/**
 * Set one value, in the place of the first line of that name.
 * @param {Pairs} pairs
 * @param {string} name
 * @param {string} value
 * @returns {Pairs}
 */
function set(pairs, name, value) {
  const key = name.toLowerCase();
  const at = pairs.findIndex(([other]) => other.toLowerCase() === key);
  if (at < 0) return [...pairs, [name, value]];
  const before = pairs.slice(0, at);
  return [...before, [pairs[at][0], value], ...without(pairs.slice(at + 1), key)];
}

/** The name of a header, or a method (RFC 9110, section 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

module.exports = { TOKEN, toMap, fromWire, fromRaw, get, without, set };
