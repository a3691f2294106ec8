"use strict";

const Module = require("node:module");

/**
 * Observe the loading of a CommonJS package such as undici, by `require` or `import`: both use
 * `Module._extensions[".js"]`. A hook of `Module._load` would be on the stack between
 * `require("punycode")` and the calling package; Node could not recognize the package as such any more,
 * and would print a deprecation warning.
 * @param {RegExp} file matches the path of a file of the package
 * @param {(exports: any, path: string) => any} loaded called once for each copy, also for copies that are loaded already;
 *   what it returns is exported in the place of `exports`
 * @returns {() => void} stops observing
 */
function onModule(file, loaded) {
  const seen = new WeakSet();
  const look = (/** @type {any} */ module, /** @type {string} */ path) => {
    const { exports } = module;
    if (!exports || (typeof exports !== "object" && typeof exports !== "function") || seen.has(exports)) return;
    seen.add(exports);
    const changed = loaded(exports, path);
    if (changed === undefined) return;
    seen.add(changed);
    module.exports = changed;
  };
  for (const [path, module] of Object.entries(require.cache)) {
    if (file.test(path) && module?.loaded) look(module, path);
  }
  const own = /** @type {any} */ (Module)._extensions;
  const original = own[".js"];
  /** @this {any} */
  const hooked = function (/** @type {any} */ module, /** @type {string} */ filename, /** @type {any[]} */ ...rest) {
    const result = original.call(this, module, filename, ...rest);
    if (file.test(filename)) look(module, filename);
    return result;
  };
  own[".js"] = hooked;
  return () => {
    if (own[".js"] === hooked) own[".js"] = original;
  };
}

module.exports = { onModule };
