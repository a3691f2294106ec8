"use strict";

/** The frames that are kept: enough for a library that calls `node:http` through follow-redirects. */
const FRAMES = 10;

/** The path of a file of a package; the last `node_modules` of the path is the one that names the package. */
const PACKAGE = /[\\/]node_modules[\\/]((?:@[^\\/\s]+[\\/])?[^\\/\s]+)[\\/](?!(?:.*[\\/])?node_modules[\\/])/;

/**
 * Keep the callers of a function. V8 makes their text when it is read; keeping them costs some 5 µs.
 * @param {Function} callee the function
 * @param {number} [frames] how many are kept
 * @returns {{ stack?: string }} for {@link packagesOf} and {@link textOf}
 */
function callersOf(callee, frames = FRAMES) {
  const kept = {};
  const limit = Error.stackTraceLimit;
  // Not an assignment: with frozen intrinsics that would throw.
  Reflect.set(Error, "stackTraceLimit", frames);
  Error.captureStackTrace(kept, callee);
  Reflect.set(Error, "stackTraceLimit", limit);
  return kept;
}

/** @type {(error: unknown, sites: NodeJS.CallSite[]) => any} */
const asSites = (_, sites) => sites;

/**
 * Read the callers without their text, which takes V8 longer than to keep them.
 * @param {{ stack?: string }} callers whose text was not read yet
 * @returns {NodeJS.CallSite[] | undefined} nothing if the application, or a source map, makes a text of its own
 */
function sitesOf(callers) {
  const { prepareStackTrace } = Error;
  const isNodes = !prepareStackTrace || prepareStackTrace.name === "ErrorPrepareStackTrace";
  if (!isNodes || process.sourceMapsEnabled) return undefined;
  Reflect.set(Error, "prepareStackTrace", asSites);
  try {
    const stack = /** @type {unknown} */ (callers.stack);
    return Array.isArray(stack) ? stack : undefined;
  } finally {
    Reflect.set(Error, "prepareStackTrace", prepareStackTrace);
  }
}

/**
 * @param {{ stack?: string } | undefined} callers
 * @returns {string[]} the npm packages of the callers, the innermost first; none if they are bundled into one file
 */
function packagesOf(callers) {
  return textOf(callers)
    .split("\n")
    .flatMap((line) => packageOf(line) ?? []);
}

/**
 * @param {{ stack?: string } | undefined} callers
 * @returns {string} a line for each; empty if the application makes something else of them
 */
function textOf(callers) {
  try {
    // May call a function of the application, `Error.prepareStackTrace`.
    const stack = callers?.stack;
    return typeof stack === "string" ? stack : "";
  } catch {
    return "";
  }
}

/**
 * @param {string} path of a file, or a line with one
 * @returns {string | undefined} the npm package that the file belongs to
 */
const packageOf = (path) => PACKAGE.exec(path)?.[1].replace("\\", "/");

module.exports = { callersOf, packageOf, packagesOf, sitesOf, textOf };
