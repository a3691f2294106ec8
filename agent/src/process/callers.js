"use strict";

/** The frames that are kept: enough for a library that calls `node:http` through follow-redirects. */
const FRAMES = 10;

/** The path of a file of a package; the last `node_modules` of the path is the one that names the package. */
const PACKAGE = /[\\/]node_modules[\\/]((?:@[^\\/\s]+[\\/])?[^\\/\s]+)[\\/](?!(?:.*[\\/])?node_modules[\\/])/;

/**
 * Keep the callers of a function. V8 makes their text when it is read; keeping them costs some 5 µs.
 * @param {Function} callee the function
 * @returns {{ stack?: string }} for {@link packagesOf}
 */
function callersOf(callee) {
  const kept = {};
  const limit = Error.stackTraceLimit;
  // Not an assignment: with frozen intrinsics that would throw.
  Reflect.set(Error, "stackTraceLimit", FRAMES);
  Error.captureStackTrace(kept, callee);
  Reflect.set(Error, "stackTraceLimit", limit);
  return kept;
}

/**
 * @param {{ stack?: string } | undefined} callers
 * @returns {string[]} the npm packages of the callers, the innermost first; none if they are bundled into one file
 */
function packagesOf(callers) {
  let stack;
  try {
    // May call a function of the application, `Error.prepareStackTrace`.
    stack = callers?.stack;
  } catch {
    return [];
  }
  const lines = typeof stack === "string" ? stack.split("\n") : [];
  return lines.flatMap((line) => PACKAGE.exec(line)?.[1].replace("\\", "/") ?? []);
}

module.exports = { callersOf, packagesOf };
