"use strict";

const Module = require("node:module");
const { sayOnce } = require("./say-once.js");

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

/**
 * Change files of packages, each once for each copy.
 * @param {Record<string, (exports: any) => any>} changes by the end of the path, without `.js`; what one returns is exported
 *   in the place of `exports`
 * @param {string} harm what follows where a file cannot be changed
 * @returns {() => void} stops changing files; those that are changed stay so
 */
function changeFiles(changes, harm) {
  const names = Object.keys(changes).join("|").replaceAll("/", "[\\\\/]");
  const file = new RegExp(`[\\\\/](${names})\\.js$`);
  return onModule(file, (exports, path) => {
    const [, name] = /** @type {string[]} */ (file.exec(path));
    try {
      return changes[name.replaceAll("\\", "/")](exports);
    } catch (error) {
      return void sayOnce(`${name} cannot be changed (${/** @type {Error} */ (error).message}), so ${harm}.`);
    }
  });
}

module.exports = { changeFiles, onModule };
