"use strict";

const { UsageError } = require("../errors.js");
const headers = require("./headers.js");

/**
 * Calls the functions that a test gave in the place of values of a request. The proxy has found that there are values; here
 * they are read as `trafficmock/matching/request_content.py` does, and `tests/data/condition_values.json` has the cases for
 * both.
 *
 * @typedef {{ part: string, path: (string | number)[], test: (value: any) => unknown }} ValueCheck a function, and the
 *   place of its value: that of a `Condition`
 * @typedef {{ url: string, headers?: Record<string, string>, headersList?: import("./headers.js").Pairs,
 *   bodyBase64?: string | null }} WireRequest
 */

/** The name of the first operation of a GraphQL document. */
const OPERATION = /(?:^|[\s}])(?:query|mutation|subscription)\s+([A-Za-z_]\w*)/;

/**
 * Test whether each function accepts a value of its place; of a name that repeats one.
 * @param {ValueCheck[]} checks
 * @param {WireRequest} request
 * @throws {UsageError} a function returns a promise
 */
const allMet = (checks, request) =>
  checks.every(({ part, path, test }) => valuesOf(request, part, path).some((value) => accepts(test, value)));

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

/**
 * @param {WireRequest} request
 * @param {string} part
 * @param {(string | number)[]} path
 * @returns {unknown[]} the values at a place; several only for a name that repeats
 */
function valuesOf(request, part, path) {
  if (part === "json") return at(jsonOf(bodyOf(request)), path);
  if (part === "operation") return operationOf(graphqlOf(request));
  if (part === "variables") return at(graphqlOf(request)?.variables, path);
  const [name, index] = path;
  const values = named(request, part, String(name));
  return index === undefined ? values : values.slice(Number(index), Number(index) + 1);
}

/**
 * @param {WireRequest} request
 * @param {string} part
 * @param {string} name
 */
function named(request, part, name) {
  if (part === "query") return queryOf(request).getAll(name);
  if (part === "form") return new URLSearchParams(bodyOf(request)).getAll(name);
  const lines = headers.read(request).filter(([each]) => each === name.toLowerCase());
  return lines.length ? [lines.map(([, value]) => value).join(", ")] : [];
}

/** @param {WireRequest} request */
const queryOf = ({ url }) => new URL(url).searchParams;

/** @param {WireRequest} request */
const bodyOf = ({ bodyBase64 }) => Buffer.from(bodyBase64 ?? "", "base64").toString();

/** @param {string} text */
function jsonOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * @param {WireRequest} request
 * @returns {any} the members of a GraphQL request: of the body, or by `GET` of the query string
 */
function graphqlOf(request) {
  const body = bodyOf(request);
  if (body) return jsonOf(body);
  const asked = queryOf(request);
  return {
    query: asked.get("query"),
    operationName: asked.get("operationName"),
    variables: jsonOf(asked.get("variables") ?? "null"),
  };
}

/** @param {any} members */
function operationOf(members) {
  const name = members?.operationName || OPERATION.exec(String(members?.query ?? ""))?.[1];
  return typeof name === "string" ? [name] : [];
}

/**
 * @param {any} value
 * @param {(string | number)[]} path
 */
function at(value, path) {
  for (const step of path) {
    if (typeof value !== "object" || value === null || Array.isArray(value) !== (typeof step === "number")) return [];
    if (!Object.hasOwn(value, step)) return [];
    value = value[step];
  }
  return value === undefined ? [] : [value];
}

module.exports = { accepts, allMet };
