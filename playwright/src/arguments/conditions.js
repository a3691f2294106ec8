"use strict";

const { MOST_STEPS } = require("trafficmock-agent/protocol/facts");
const { UsageError } = require("../errors.js");

/**
 * Reads the conditions on more than the URL: `matchQuery`, `matchHeaders`, `matchForm`, `matchJson`, `matchGraphql`.
 *
 * @typedef {{ part: string, path: (string | number)[], equals?: unknown, matches?: { source: string, flags: string },
 *   length?: number, isObject?: boolean, isAbsent?: boolean, hasFunction?: boolean, test?: (value: any) => unknown }}
 *   Condition a `SerializedCondition` of the proxy, which compares it; `test` stays here: the proxy sends it the value
 */

/** @type {Record<string, string>} */
const NAMED = { matchQuery: "query", matchHeaders: "header", matchForm: "form" };
const CONDITIONS = [...Object.keys(NAMED), "matchJson", "matchGraphql"];

/**
 * @param {Record<string, any>} given the options of a filter, others too
 * @returns {Condition[]}
 * @throws {UsageError} a value cannot be compared
 */
function readConditions(given) {
  /** @type {Condition[]} */
  const found = [];
  for (const [name, part] of Object.entries(NAMED)) {
    if (given[name] !== undefined) ofNames(name, part, given[name], found);
  }
  if (given.matchJson !== undefined) ofJson("json", [], given.matchJson, "matchJson", found);
  if (given.matchGraphql !== undefined) ofGraphql(given.matchGraphql, found);
  return found;
}

/**
 * @param {any} given
 * @param {Condition[]} found
 */
function ofGraphql(given, found) {
  const [operation, ...variables] = Array.isArray(given) ? given : [given];
  const isName = ["string", "function"].includes(typeof operation) || operation instanceof RegExp;
  if (!isName || variables.length > 1) {
    throw new UsageError(
      `matchGraphql is the name of an operation, or [name, variables], not ${JSON.stringify(given)}`,
    );
  }
  found.push(ofValue("operation", [], operation, "matchGraphql"));
  for (const each of variables) ofJson("variables", [], each, "matchGraphql", found);
}

/**
 * @param {string} name
 * @param {string} part
 * @param {any} given
 * @param {Condition[]} found
 */
function ofNames(name, part, given, found) {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new UsageError(`${name} is an object of names and values, not ${JSON.stringify(given)}`);
  }
  for (const [key, value] of Object.entries(given)) {
    const where = `${name}.${key}`;
    if (value === null) found.push({ part, path: [key], isAbsent: true });
    else if (Array.isArray(value)) {
      found.push({ part, path: [key], length: value.length });
      value.forEach((each, index) => found.push(ofValue(part, [key, index], asText(each), where)));
    } else found.push(ofValue(part, [key], asText(value), where));
  }
}

/** @param {unknown} value */
const asText = (value) => (typeof value === "number" || typeof value === "boolean" ? String(value) : value);

/**
 * @param {string} part
 * @param {(string | number)[]} path
 * @param {any} wanted
 * @param {string} where
 * @param {Condition[]} found
 */
function ofJson(part, path, wanted, where, found) {
  if (path.length > MOST_STEPS) throw new UsageError(`${where} is nested too deeply`);
  if (Array.isArray(wanted)) {
    found.push({ part, path, length: wanted.length });
    wanted.forEach((each, index) => ofJson(part, [...path, index], each, `${where}[${index}]`, found));
  } else if (typeof wanted === "object" && wanted !== null && !(wanted instanceof RegExp)) {
    const members = Object.entries(wanted).filter(([, value]) => value !== undefined);
    if (!members.length) found.push({ part, path, isObject: true });
    for (const [key, value] of members) ofJson(part, [...path, key], value, `${where}.${key}`, found);
  } else if (wanted === null || typeof wanted === "number" || typeof wanted === "boolean") {
    found.push({ part, path, equals: wanted });
  } else found.push(ofValue(part, path, wanted, where));
}

/**
 * @param {string} part
 * @param {(string | number)[]} path
 * @param {any} wanted
 * @param {string} where
 * @returns {Condition}
 */
function ofValue(part, path, wanted, where) {
  if (wanted instanceof RegExp) return { part, path, matches: { source: wanted.source, flags: wanted.flags } };
  if (typeof wanted === "function") return { part, path, hasFunction: true, test: wanted };
  if (typeof wanted === "string") return { part, path, equals: wanted };
  throw new UsageError(`${where} cannot be compared with ${String(wanted)}`);
}

module.exports = { CONDITIONS, readConditions };
