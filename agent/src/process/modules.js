"use strict";

const Module = require("node:module");

/**
 * See npm packages as they are loaded, by `require` or `import`: those in
 * CommonJS, such as undici, pass through one function either way. A hook of
 * `Module._load` would see them too, and would stand on the stack between
 * `require("punycode")` and the package that asks: Node then no longer finds
 * that it is a package, and warns the application.
 * @param {RegExp} file that the path of the package's main file ends with
 * @param {(exports: any) => void} loaded called once for each copy, those loaded before included
 * @returns {() => void} stops looking
 */
function onModule(file, loaded) {
  const seen = new WeakSet();
  const look = (/** @type {any} */ exports) => {
    if (!exports || (typeof exports !== "object" && typeof exports !== "function") || seen.has(exports)) return;
    seen.add(exports);
    loaded(exports);
  };
  for (const [path, module] of Object.entries(require.cache)) {
    if (file.test(path) && module?.loaded) look(module.exports);
  }
  const own = /** @type {any} */ (Module)._extensions;
  const original = own[".js"];
  /** @this {any} */
  const hooked = function (/** @type {any} */ module, /** @type {string} */ filename, /** @type {any[]} */ ...rest) {
    const result = original.call(this, module, filename, ...rest);
    if (file.test(filename)) look(module.exports);
    return result;
  };
  own[".js"] = hooked;
  return () => {
    if (own[".js"] === hooked) own[".js"] = original;
  };
}

module.exports = { onModule };
