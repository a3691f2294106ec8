"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const path = require("node:path");
const { fileURLToPath } = require("node:url");

/**
 * A position in the test's code.
 *
 * @typedef {{ file: string, line: number, column: number }} Location
 */

/** The directory of this package's sources. */
const OWN = path.resolve(__dirname, "..") + path.sep;
const MODULES = `${path.sep}node_modules${path.sep}`;
const FRAME = /\(?((?:file:\/\/)?[^\s()]+):(\d+):(\d+)\)?$/;

/** The place of the test's call, for code that runs asynchronously after it. */
const calls = new AsyncLocalStorage();

/**
 * Capture the place in the test's code that called this package.
 *
 * @returns {() => Location | undefined} finds the place; parsing a stack is expensive, and the place is seldom needed
 */
function callSite() {
  const place = calls.getStore();
  const error = place ? undefined : new Error();
  return () => place ?? fromStack(error?.stack ?? "");
}

/**
 * @param {string} stack
 * @returns {Location | undefined}
 */
function fromStack(stack) {
  for (const line of stack.split("\n").slice(1)) {
    const match = FRAME.exec(line);
    if (!match || match[1].startsWith("node:")) continue;
    const file = match[1].startsWith("file:") ? fileURLToPath(match[1]) : match[1];
    if (!file.startsWith(OWN) && !file.includes(MODULES)) {
      return { file, line: Number(match[2]), column: Number(match[3]) };
    }
  }
  return undefined;
}

/**
 * Run a function in which `callSite` finds this place.
 *
 * @template T
 * @param {Location | undefined} place
 * @param {() => T} run
 * @returns {T}
 */
const calledFrom = (place, run) => calls.run(place, run);

/**
 * @param {string} file
 * @returns {string} its path as errors, the history and reports have it: from the working directory, if it is within
 */
function shownPath(file) {
  const inside = path.isAbsolute(file) ? path.relative(process.cwd(), file) : file;
  const isOutside = inside.startsWith("..") || path.isAbsolute(inside);
  return (isOutside ? file : inside).replaceAll(path.sep, "/");
}

/** @param {Location | undefined} place */
const written = (place) => (place ? `${shownPath(place.file)}:${place.line}` : "");

/**
 * Replace an error's stack by a place in the test's code.
 *
 * @template {Error} T
 * @param {T} error
 * @param {Location | undefined} place
 * @returns {T}
 */
function raisedAt(error, place) {
  if (place) error.stack = `${error.name}: ${error.message}\n    at ${place.file}:${place.line}:${place.column}`;
  return error;
}

/**
 * @template {Error} T
 * @param {T} error that a message of the proxy, or the loss of its connection, led to
 * @returns {T} without a stack: no code of the test is on it
 */
function withoutFrames(error) {
  error.stack = `${error.name}: ${error.message}`;
  return error;
}

/**
 * @param {string} stack
 * @returns {string} without the frames of this package
 */
const withoutOwnFrames = (stack) =>
  stack
    .split("\n")
    .filter((line) => !(/^\s+at /.test(line) && line.includes(OWN)))
    .join("\n");

module.exports = { callSite, calledFrom, raisedAt, shownPath, withoutFrames, withoutOwnFrames, written };
