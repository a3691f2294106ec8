"use strict";

const Module = require("node:module");
const vm = require("node:vm");
const { isMainThread } = require("node:worker_threads");
const { changeModules } = require("./module-bundles.js");
const { outer } = require("./realm.js");
const { CALLED, PLACES, withCalls } = require("./bundled-libraries.js");
const { foundUnhooked } = require("./unhooked.js");
const { workerEntry } = require("./workers.js");

/** A file of a package that is smaller is no bundle with a library. */
const SMALLEST = 2 ** 16;

/** What `node:vm` calls a text that has no file. */
const NAMELESS = "evalmachine.<anonymous>";

/** @typedef {{ change: (given: any) => any, harm: import("./unhooked.js").Harm }} Change */

/** By their names. @type {Map<string, Change>} */
const changes = new Map();

/** The classes that a change has had. @type {Map<string, WeakSet<object>>} */
const changed = new Map();

/** @type {(() => void) | undefined} */
let stop;

/**
 * Change libraries that are parts of other files, too.
 * @param {Record<string, (given: any) => any>} those the changes, by the names that `bundled-libraries.js` has
 * @param {import("./unhooked.js").Harm} harm
 * @returns {() => void} stops it, for files that are loaded later
 */
function changeBundled(those, harm) {
  for (const [name, change] of Object.entries(those)) changes.set(name, { change, harm });
  stop ??= watchSources();
  return () => {
    for (const name of Object.keys(those)) changes.delete(name);
    if (changes.size > 0) return;
    stop?.();
    stop = undefined;
  };
}

/**
 * Read the texts of the application's first ES modules, those of CommonJS, which each loader gives to one method but Node's
 * own of ES modules, and what Jest, vite-node and others compile by `node:vm`.
 * @returns {() => void} stops reading
 */
function watchSources() {
  const owner = /** @type {any} */ (Module.prototype);
  const { _compile: original } = owner;
  /** @this {any} */
  function _compile(/** @type {any} */ content, /** @type {any} */ path, /** @type {any[]} */ ...rest) {
    return original.call(this, bundleText(content, path), path, ...rest);
  }
  owner._compile = _compile;
  const own = /** @type {any} */ (vm);
  const { runInThisContext: run } = own;
  /** @this {any} */
  function runInThisContext(/** @type {any} */ content, /** @type {any} */ options, /** @type {any[]} */ ...rest) {
    return run.call(this, textOf(content, options), options, ...rest);
  }
  own.runInThisContext = runInThisContext;
  const { Script, compileFunction: compile } = own;
  const Read = new Proxy(Script, {
    /** @returns {any} */
    construct(target, [content, options, ...rest], newTarget) {
      const given = [scriptText(content, options), options, ...rest];
      return Reflect.construct(target, given, newTarget === Read ? target : newTarget);
    },
  });
  own.Script = Read;
  /** @this {any} */
  function compileFunction(/** @type {any} */ content, /** @type {any} */ names, /** @type {any[]} */ ...rest) {
    return compile.call(this, scriptText(content, rest[0]), names, ...rest);
  }
  own.compileFunction = compileFunction;
  Module.syncBuiltinESMExports();
  const entry = isMainThread ? process.argv[1] : workerEntry();
  if (entry) changeModules(entry, (text, path) => named(withCalls(text, ""), path));
  Object.defineProperty(outer, CALLED, { value: called, configurable: true, enumerable: false });
  return () => {
    if (owner._compile === _compile) owner._compile = original;
    if (own.runInThisContext === runInThisContext) own.runInThisContext = run;
    if (own.Script === Read) own.Script = Script;
    if (own.compileFunction === compileFunction) own.compileFunction = compile;
    Module.syncBuiltinESMExports();
    Reflect.deleteProperty(outer, CALLED);
  };
}

/**
 * @param {any} content
 * @param {any} path
 * @returns {any} the text of a bundle with our calls; of other files, it as it is
 */
function bundleText(content, path) {
  if (typeof content !== "string" || typeof path !== "string") return content;
  if (content.length < SMALLEST && /[\\/]node_modules[\\/]/.test(path)) return content;
  return named(withCalls(content, path), path);
}

/**
 * @param {any} content of what is no module of Node, of a library perhaps, which has no other change then
 * @param {any} options of `node:vm`
 * @returns {any} its text with our calls
 */
function textOf(content, options) {
  const text = asText(content);
  if (text === undefined) return content;
  const path = typeof options === "string" ? options : options?.filename;
  return named(withCalls(text, ""), typeof path === "string" ? path : NAMELESS);
}

/**
 * @param {any} content
 * @returns {string | undefined} the text that `node:vm` makes of it; none of what is seldom one, and of what is Node's to refuse
 */
function asText(content) {
  if (typeof content === "string") return content;
  return Buffer.isBuffer(content) ? String(content) : undefined;
}

/**
 * @param {any} content of a script
 * @param {any} options of `node:vm`
 * @returns {any} its text with our calls. A single file of a package, such as each that Jest compiles, may have what a library
 *   is known by without its places: it is not named
 */
function scriptText(content, options) {
  const path = options?.filename;
  if (typeof content !== "string" || typeof path !== "string" || !/[\\/]node_modules[\\/]/.test(path)) {
    return textOf(content, options);
  }
  return withCalls(content, "").source;
}

/**
 * Name the libraries that are unhooked.
 * @param {{ source: string, unhooked: import("./bundled-libraries.js").Library[] }} found
 * @param {string} path
 */
function named({ source, unhooked }, path) {
  for (const { name, file } of unhooked) {
    const found = changes.get(file);
    if (found) foundUnhooked(name, path, found.harm);
  }
  return source;
}

/**
 * What a library in a bundle calls.
 * @param {number} number of the place
 * @param {any[]} given
 * @returns {any}
 */
function called(number, ...given) {
  const { change, classes = [], isRepeated } = PLACES[number];
  if (change) return changes.get(change)?.change(given);
  let isChanged = false;
  for (const one of classes) {
    const prototype = ownerOf(given[0], one.method);
    const found = changes.get(one.change);
    if (!prototype || !found) continue;
    const seen = changed.get(`${number} ${one.change}`) ?? new WeakSet();
    changed.set(`${number} ${one.change}`, seen);
    if (seen.has(prototype)) continue;
    seen.add(prototype);
    found.change(one.exports(prototype));
    isChanged = true;
  }
  return (isRepeated && isChanged) || undefined;
}

/**
 * @param {any} instance
 * @param {string} method
 * @returns {any} the prototype that has it
 */
function ownerOf(instance, method) {
  let prototype = Object.getPrototypeOf(instance);
  while (prototype && !Object.hasOwn(prototype, method)) prototype = Object.getPrototypeOf(prototype);
  return prototype;
}

module.exports = { bundleText, changeBundled };
