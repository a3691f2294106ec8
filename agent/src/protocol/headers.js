"use strict";

/**
 * Header lines as ordered pairs `[name, value]`, as the feature `headers-list` sends them;
 * protocol 3 always sends a map as well. Values are latin-1, as in HTTP.
 *
 * @typedef {[string, string][]} Pairs
 */

/**
 * @param {Pairs} pairs
 * @returns {Record<string, string>} by lower-case names; repeats joined by `, `, of `cookie` by `; `
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
 * Return the pairs of a message: its list, or its map if there is no list.
 * @param {{ headers?: Record<string, string>, headersList?: Pairs }} wire
 * @returns {Pairs}
 */
function fromWire(wire) {
  if (wire.headersList) return wire.headersList.map(([name, value]) => [name, value]);
  /** @type {Pairs} */
  const pairs = [];
  for (const [name, value] of Object.entries(wire.headers ?? {})) {
    // The npm fixture joins several cookies of a HAR by a line feed.
    if (name.toLowerCase() === "set-cookie") {
      for (const line of value.split("\n")) pairs.push([name, line]);
    } else pairs.push([name, value]);
  }
  return pairs;
}

/**
 * @param {(string | Buffer)[]} raw names and values alternating, as in Node and undici
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
 * Set a header, in the place of the first line of that name; other lines of the name are removed.
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

/** @param {Pairs} pairs */
function toMultiMap(pairs) {
  /** @type {Record<string, string | string[]>} */
  const map = {};
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    map[key] = Object.hasOwn(map, key) ? [map[key], value].flat() : value;
  }
  return map;
}

/** A token: the name of a header, or a method (RFC 9110, section 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

module.exports = { TOKEN, toMap, toMultiMap, fromWire, fromRaw, get, without, set };
