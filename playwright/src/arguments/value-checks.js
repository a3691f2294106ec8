"use strict";

const { UsageError } = require("../errors.js");

/**
 * Calls the functions that a test gave in the place of values of a request, with the values that the proxy sends.
 *
 * @typedef {{ part: string, path: (string | number)[], test: (value: any) => unknown }} ValueCheck a function, and the
 *   place of its value: that of a `Condition`
 * @typedef {{ part: string, path: (string | number)[], values: unknown[] }} PlacedValues those at one place; several only
 *   for a name that repeats
 */

/**
 * Test whether each function accepts a value of its place; of a name that repeats one.
 * @param {ValueCheck[]} checks
 * @param {PlacedValues[]} found at the places of the functions
 * @throws {UsageError} a function returns a promise
 */
function allMet(checks, found) {
  const values = new Map(found.map((each) => [keyOf(each), each.values]));
  return checks.every((check) => values.get(keyOf(check))?.some((value) => accepts(check.test, value)));
}

/** @param {{ part: string, path: (string | number)[] }} place */
const keyOf = ({ part, path }) => JSON.stringify([part, path]);

/**
 * @param {(value: any) => any} test a function of a test
 * @param {unknown} value
 * @returns {boolean}
 * @throws {UsageError} it returns a promise, which would be true whatever it comes to
 */
function accepts(test, value) {
  const accepted = test(value);
  if (typeof accepted?.then !== "function") return Boolean(accepted);
  // Its rejection would be that of no test.
  accepted.then(undefined, () => {});
  throw new UsageError("a function must return whether a value or a URL matches, and no promise");
}

module.exports = { accepts, allMet };
