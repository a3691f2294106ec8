"use strict";

const Module = require("node:module");
const { isMainThread } = require("node:worker_threads");
const { changeLoaded, changeModules } = require("./module-bundles.js");
const { outer } = require("./realm.js");
const { CALLED, LIBRARIES, PLACES, librariesOf, withCalls } = require("./bundled-libraries.js");
const { foundUnhooked } = require("./unhooked.js");
const { globalOf, valueIn } = require("./vm-contexts.js");
const { changeTexts } = require("./vm-texts.js");
const { workerEntry } = require("./workers.js");

/** A file of a package that is smaller is no bundle with a library. */
const SMALLEST = 2 ** 16;

/** What code writes that imports a module as a URL. */
const MODULE_URL = /\bdata:(?:text|application)\/javascript/i;

/** Stands for the file of a text that has none. */
const NAMELESS = "<anonymous>";

const IN_PACKAGE = /[\\/]node_modules[\\/]/;

/** @typedef {{ change: (given: any) => any, harm: import("./unhooked.js").Harm }} Change */

/** By their names. @type {Map<string, Change>} */
const changes = new Map();

/** Libraries that are named as soon as the change that stands for them is known, by its name. @type {Map<string, string[]>} */
const early = new Map();

/** The classes that a change has had. @type {Map<string, WeakSet<object>>} */
const changed = new Map();

/** @type {(() => void) | undefined} */
let stop;

/** Whether modules are read that are URLs: only for an application with such code, because that changes how others are loaded. */
let areUrlsRead = false;

/**
 * Change libraries that are parts of other files, too.
 * @param {Record<string, (given: any) => any>} those the changes, by the names that `bundled-libraries.js` has
 * @param {import("./unhooked.js").Harm} harm
 * @returns {() => void} stops it, for files that are loaded later
 */
function changeBundled(those, harm) {
  for (const [name, change] of Object.entries(those)) {
    changes.set(name, { change, harm });
    const found = early.get(name);
    if (found) foundUnhooked(found[0], found[1], harm);
  }
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
 * own of ES modules, and what `node:vm` compiles, as for Jest and vite-node.
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
  const stopTexts = changeTexts({ change: compiledText, prepare: prepareContext, left: nameLeft });
  const entry = isMainThread ? process.argv[1] : workerEntry();
  if (entry) changeModules(entry, changedModule, nameLeft);
  giveCall(outer);
  if (isMainThread) watchCode(entry);
  return () => {
    if (owner._compile === _compile) owner._compile = original;
    stopTexts();
    Reflect.deleteProperty(outer, CALLED);
  };
}

/**
 * Read the code of `node -e`, `node -p` or the standard input: Node compiles it past all that could change it.
 * @param {string | undefined} entry the first word after Node's options
 */
function watchCode(entry) {
  const own = /** @type {any} */ (process);
  const read = (/** @type {any} */ code, /** @type {string} */ path) => {
    if (typeof code !== "string") return;
    watchUrls(code, path);
    const { hooked, unhooked } = withCalls(code, "");
    named([...hooked, ...unhooked], path);
  };
  if (own._eval !== undefined) return read(own._eval, "[eval]");
  if (entry && entry !== "-") return;
  // Node assigns what it has read from the standard input, before it runs it.
  const set = (/** @type {any} */ value) => {
    Object.defineProperty(own, "_eval", { value, writable: true, enumerable: true, configurable: true });
    read(value, "[stdin]");
  };
  Object.defineProperty(own, "_eval", { get: () => undefined, set, enumerable: true, configurable: true });
}

/**
 * @param {any} content
 * @param {any} path
 * @returns {any} the text of a bundle with our calls; of other files, it as it is
 */
function bundleText(content, path) {
  if (typeof content !== "string" || typeof path !== "string") return content;
  if (content.length < SMALLEST && IN_PACKAGE.test(path)) return content;
  return textOf(content, path, path);
}

/** @param {string} text @param {string} path of an ES module, also of one of a library, which has no other change then */
const changedModule = (text, path) => textOf(text, "", path);

/**
 * @param {string} text
 * @param {string} own the path, where a file of a library has another change
 * @param {string} path
 * @returns {string} it with our calls
 */
function textOf(text, own, path) {
  watchUrls(text, path);
  const { source, unhooked } = withCalls(text, own);
  named(unhooked, path);
  return source;
}

/**
 * @param {import("./vm-texts.js").Compiled} given what is no module of Node, of a library perhaps, which has no other change then
 * @returns {string} its text with our calls; as it is, if V8 then refuses the code of it that the program has kept. A single file
 *   of a package may have what a library is known by without its places: it is not named
 */
function compiledText({ text, path, isPart, cached, fits }) {
  watchUrls(text, path);
  const found = withCalls(text, "");
  // In this order: what V8 has refused code for, it has compiled then, and refuses no more.
  const isKept = cached !== "" && found.source !== text && fits(text) && !fits(found.source);
  const { source, unhooked } = isKept ? { source: text, unhooked: [...found.hooked, ...found.unhooked] } : found;
  if (!isPart || !IN_PACKAGE.test(path)) named(unhooked, path);
  // The text of what is distributed as compiled code says nothing.
  const isCode = found.hooked.length + found.unhooked.length === 0;
  const compiled = isCode ? librariesOf(cached) : [];
  if (compiled.length > 0 && fits(text)) named(compiled, path);
  return source;
}

/**
 * @param {string} text of code
 * @param {string} path
 */
function watchUrls(text, path) {
  if (areUrlsRead || IN_PACKAGE.test(path) || !MODULE_URL.test(text)) return;
  areUrlsRead = true;
  changeLoaded(changedModule);
}

/**
 * Let texts with our calls reach us.
 * @param {any} realm the global object that they see
 */
function giveCall(realm) {
  if (realm[CALLED] === called) return;
  // A global object that is frozen does not take it.
  Reflect.defineProperty(realm, CALLED, { value: called, configurable: true, enumerable: false });
}

/**
 * @param {object} context of `node:vm`
 * @returns {boolean} whether texts in it reach us, and do so without an error: what is global there may be a sandbox with traps
 */
function prepareContext(context) {
  try {
    giveCall(globalOf(context));
    return valueIn(context, `globalThis?.${CALLED}`) === called;
  } catch {
    return false;
  }
}

/**
 * Name the libraries of a text that runs without our calls, though it might have them.
 * @param {string} text
 * @param {string} path
 */
function nameLeft(text, path) {
  const { hooked, unhooked } = withCalls(text, "");
  named([...hooked, ...unhooked], path);
}

/**
 * Name the libraries that are unhooked.
 * @param {import("./bundled-libraries.js").Library[]} unhooked
 * @param {string} path
 */
function named(unhooked, path) {
  for (const { name, file } of unhooked) {
    const found = changes.get(file);
    if (found) foundUnhooked(name, path, found.harm);
    else early.set(file, [name, path]);
  }
}

/**
 * What a library in a bundle calls.
 * @param {number} number of the place; of a library that has none, in complement
 * @param {any[]} given what the place gives; for such a library, the path of the file if it has one
 * @returns {any}
 */
function called(number, ...given) {
  if (number < 0) return named([LIBRARIES[~number]], given[0] ?? NAMELESS);
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
  if (typeof instance !== "object" || instance === null) return undefined;
  let prototype = Object.getPrototypeOf(instance);
  while (prototype && !Object.hasOwn(prototype, method)) prototype = Object.getPrototypeOf(prototype);
  return prototype;
}

module.exports = { bundleText, changeBundled };
