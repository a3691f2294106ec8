"use strict";

const Module = require("node:module");

/**
 * See npm packages as they are loaded, by `require` or `import`: those in
 * CommonJS, such as undici, pass through one function either way.
 */

/**
 * @param {string} word in the name of the package, however it is asked for
 * @param {RegExp} file that the package's main file's path ends with
 * @param {(exports: any) => void} loaded called once for each copy, those loaded before included
 * @returns {() => void} stops looking
 */
function onModule(word, file, loaded) {
  const seen = new WeakSet();
  const look = (/** @type {any} */ exports) => {
    if (!exports || (typeof exports !== "object" && typeof exports !== "function") || seen.has(exports)) return;
    seen.add(exports);
    loaded(exports);
  };
  for (const [path, module] of Object.entries(require.cache)) {
    if (file.test(path) && module?.loaded) look(module.exports);
  }
  const own = /** @type {any} */ (Module);
  const original = own._load;
  own._load = function (/** @type {string} */ request, /** @type {any} */ parent, /** @type {any[]} */ ...rest) {
    const exports = original.call(this, request, parent, ...rest);
    if (typeof request === "string" && request.includes(word) && isFile(file, request, parent)) look(exports);
    return exports;
  };
  const { _load: hooked } = own;
  return () => {
    if (own._load === hooked) own._load = original;
  };
}

/**
 * @param {RegExp} file
 * @param {string} request
 * @param {any} parent
 */
function isFile(file, request, parent) {
  try {
    return file.test(/** @type {any} */ (Module)._resolveFilename(request, parent));
  } catch {
    // Then the load itself has failed, or was answered by somebody else's hook.
    return false;
  }
}

module.exports = { onModule };
