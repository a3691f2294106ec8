"use strict";

const Module = require("node:module");
const { changeBundled } = require("./bundles.js");
const { foundUnhooked } = require("./unhooked.js");

/**
 * @typedef {object} Observer
 * @property {RegExp} file matches the path of a file of the package
 * @property {(exports: any, path: string) => any} loaded
 */

/** @type {Set<Observer>} */
const observers = new Set();

/** The exports that observers have seen, or given. @type {WeakMap<object, WeakSet<Observer>>} */
const seen = new WeakMap();

/** Undoes the observation of new modules. @type {(() => void) | undefined} */
let stopWatching;

/**
 * Observe the loading of a CommonJS package such as undici, by `require` or `import`, whichever loader compiles it. Loaders
 * replace the functions of `Module`, and Node's own loader of ES modules goes past all of them where another one gives it
 * the source. But each makes a `Module` of Node with the path of the file, marks it as `loaded`, and then reads its
 * `exports`.
 * @param {RegExp} file matches the path of a file of the package
 * @param {(exports: any, path: string) => any} loaded called once for each copy, also for copies that are loaded already;
 *   what it returns is exported in the place of `exports`
 * @returns {() => void} stops observing
 */
function onModule(file, loaded) {
  const observer = { file, loaded };
  observers.add(observer);
  stopWatching ??= watchModules();
  for (const [path, module] of Object.entries(require.cache)) {
    if (!module || !file.test(path)) continue;
    if (module.loaded) module.exports = changed(module.exports, path, [observer]);
    else watchExports(module, path);
  }
  return () => {
    observers.delete(observer);
    if (observers.size > 0) return;
    stopWatching?.();
    stopWatching = undefined;
  };
}

/**
 * Watch the modules that Node makes from now on. Its constructor assigns `loaded` last, and with it our accessor is
 * called: nothing of ours is on the stack while a module runs, by which Node and packages recognize their callers.
 * @returns {() => void} stops watching
 */
function watchModules() {
  const owner = Module.prototype;
  const before = Object.getOwnPropertyDescriptor(owner, "loaded");
  /** @this {any} */
  const set = function (/** @type {boolean} */ value) {
    Object.defineProperty(this, "loaded", { value, writable: true, enumerable: true, configurable: true });
    const { id } = this;
    if (typeof id !== "string") return;
    for (const { file } of observers) {
      if (file.test(id)) return void watchExports(this, id);
    }
  };
  Object.defineProperty(owner, "loaded", { get: () => undefined, set, enumerable: false, configurable: true });
  return () => {
    if (Object.getOwnPropertyDescriptor(owner, "loaded")?.set !== set) return;
    if (before) Object.defineProperty(owner, "loaded", before);
    else Reflect.deleteProperty(owner, "loaded");
  };
}

/**
 * Show the exports of a module to the observers when they are read for the first time after it has been loaded.
 * @param {any} module
 * @param {string} path
 */
function watchExports(module, path) {
  const before = Object.getOwnPropertyDescriptor(module, "exports");
  if (!before?.configurable || before.get) return;
  let { value } = before;
  const settle = () =>
    Object.defineProperty(module, "exports", { value, writable: true, enumerable: true, configurable: true });
  const get = () => {
    if (!module.loaded) return value;
    value = changed(value, path, [...observers]);
    settle();
    return value;
  };
  const set = (/** @type {any} */ given) => {
    value = given;
    if (module.loaded) settle();
  };
  Object.defineProperty(module, "exports", { get, set, enumerable: true, configurable: true });
}

/**
 * @param {any} exports
 * @param {string} path
 * @param {Observer[]} those each sees what the one before it has made of the exports
 * @returns {any} what is exported in their place
 */
function changed(exports, path, those) {
  let current = exports;
  for (const observer of those) {
    if (!observer.file.test(path) || !isObject(current) || seen.get(current)?.has(observer)) continue;
    const before = current;
    current = observer.loaded(before, path) ?? before;
    for (const one of [before, current]) {
      if (isObject(one)) seen.set(one, (seen.get(one) ?? new WeakSet()).add(observer));
    }
  }
  return current;
}

/** @param {any} value */
const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

/**
 * Change files of packages, each once for each copy, also where they are parts of a bundle.
 * @param {Record<string, (exports: any) => any>} changes by the end of the path, without `.js`; what one returns is exported
 *   in the place of `exports`
 * @param {import("./unhooked.js").Harm} harm
 * @returns {() => void} stops changing files; those that are changed stay so
 */
function changeFiles(changes, harm) {
  const names = Object.keys(changes).join("|").replaceAll("/", "[\\\\/]");
  const file = new RegExp(`[\\\\/](${names})\\.js$`);
  const stopBundled = changeBundled(changes, harm);
  const stopFiles = onModule(file, (exports, path) => {
    const [, name] = /** @type {string[]} */ (file.exec(path));
    try {
      return changes[name.replaceAll("\\", "/")](exports);
    } catch {
      return void foundUnhooked(name, path, harm);
    }
  });
  return () => {
    stopFiles();
    stopBundled();
  };
}

module.exports = { changeFiles, onModule };
