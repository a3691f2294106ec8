"use strict";

const { sayOnce } = require("./say-once.js");

/**
 * A library that could not be changed.
 *
 * @typedef {object} Unhooked
 * @property {string} name
 * @property {string} file that it is a part of
 */

/**
 * What follows where a library cannot be changed.
 *
 * @typedef {object} Harm
 * @property {string} text
 * @property {(name: string) => void} [follow] called for each copy that is found
 */

/** The first of each, by their names. @type {Map<string, Unhooked>} */
const found = new Map();

/** @type {Set<(one: Unhooked) => void>} */
const listeners = new Set();

/**
 * Note that a library cannot be changed, once for all files that it is a part of.
 * @param {string} name
 * @param {string} file that it is a part of
 * @param {Harm} harm
 */
function foundUnhooked(name, file, { text, follow }) {
  follow?.(name);
  if (found.has(name)) return;
  const one = { name, file };
  found.set(name, one);
  sayOnce(
    `${name} in ${file} cannot be changed, so ${text}. Keep it out of the bundle (external in esbuild and webpack).`,
  );
  for (const listener of listeners) listener(one);
}

/**
 * @param {(one: Unhooked) => void} listener called for each that is found from now on, once however often it is given
 * @returns {Unhooked[]} those that were found before
 */
function onUnhooked(listener) {
  listeners.add(listener);
  return [...found.values()];
}

module.exports = { foundUnhooked, onUnhooked };
