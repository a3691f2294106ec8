"use strict";

/** @type {Set<string>} */
const said = new Set();

/**
 * Write a warning to standard error, once in this process.
 * @param {string} text one line
 */
function sayOnce(text) {
  if (said.has(text)) return;
  said.add(text);
  process.stderr.write(`trafficmock: ${text}\n`);
}

module.exports = { sayOnce };
