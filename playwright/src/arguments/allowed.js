"use strict";

const { UsageError } = require("../errors.js");
const { Matcher } = require("./matcher.js");

/**
 * Reads what strict mode lets through: hosts and URL globs, which the proxy reads, and conditions.
 *
 * @typedef {import("../../index.js").Allowed} Allowed
 *
 * @param {readonly Allowed[]} allow
 * @returns {(string | import("./matcher.js").SerializedMatcher)[]} the items for the proxy
 * @throws {UsageError} an item is neither, or only a function can compare its URL
 */
function readAllowed(allow) {
  if (!Array.isArray(allow)) throw new UsageError(`allow is a list, not ${JSON.stringify(allow)}`);
  return allow.map((each) => {
    if (typeof each === "string") return each;
    if (typeof each !== "object" || each === null || each instanceof RegExp) {
      throw new UsageError(`allow has hosts, URL globs and objects of conditions, not ${String(each)}`);
    }
    const { wire, checks } = new Matcher(each);
    if (checks.length) {
      throw new UsageError(
        "allow: a value is a function, which the proxy cannot call; make a route for these requests, whose handler " +
          "continues them",
      );
    }
    if (wire.predicate) {
      throw new UsageError(
        "allow: the proxy compares the URL, which must be a RegExp, or a glob that begins with a scheme or with **",
      );
    }
    return wire;
  });
}

module.exports = { readAllowed };
