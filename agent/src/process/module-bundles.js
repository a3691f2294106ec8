"use strict";

const { readFileSync, realpathSync } = require("node:fs");
const Module = require("node:module");
const { dirname, extname, join, resolve } = require("node:path");
const { pathToFileURL } = require("node:url");

/** The most files of an application that are looked at, from the one that it begins with, and how large one may be. */
const MOST_FILES = 64;
const MOST_CHARACTERS = 2 ** 26;

/** What a file of a bundle imports from another one. */
const IMPORTED = /\b(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"'\n]+)["']/g;

/** Node's hooks before version 22.15 run in a thread, which gets the texts. */
const IN_THREAD = `
  let texts = {};
  export const initialize = (given) => { texts = given };
  export const load = (url, context, next) =>
    url in texts ? { format: "module", source: texts[url], shortCircuit: true } : next(url, context);`;

/**
 * Let Node load changed texts of ES modules: no function of `Module` gets theirs. Node's hooks are used only if there is such
 * a text, because they change how the other modules are loaded.
 * @param {(text: string, path: string) => string} change
 */
function changeModules(change) {
  /** @type {Record<string, string>} */
  const texts = {};
  for (const { path, text } of modulesFrom(resolve(process.argv[1] ?? ""))) {
    const changed = change(text, path);
    if (changed !== text) texts[pathToFileURL(path).href] = changed;
  }
  if (Object.keys(texts).length === 0) return;
  const { registerHooks } = /** @type {any} */ (Module);
  if (!registerHooks) return Module.register(`data:text/javascript,${encodeURIComponent(IN_THREAD)}`, { data: texts });
  registerHooks({
    load: (/** @type {string} */ url, /** @type {any} */ context, /** @type {Function} */ next) =>
      Object.hasOwn(texts, url) ? { format: "module", source: texts[url], shortCircuit: true } : next(url, context),
  });
}

/**
 * Read an application's ES modules outside of packages, from the one that it begins with.
 * @param {string} entry
 * @returns {Generator<{ path: string, text: string }>}
 */
function* modulesFrom(entry) {
  const waiting = [entry];
  const seen = new Set();
  for (let path = waiting.shift(); path !== undefined && seen.size < MOST_FILES; path = waiting.shift()) {
    const found = readModule(path);
    if (!found || seen.has(found.path)) continue;
    seen.add(found.path);
    yield found;
    for (const [, name] of found.text.matchAll(IMPORTED)) waiting.push(join(dirname(found.path), name));
  }
}

/**
 * @param {string} given
 * @returns {{ path: string, text: string } | undefined} nothing for what is no ES module of the application
 */
function readModule(given) {
  try {
    const path = realpathSync(given);
    if (/[\\/]node_modules[\\/]/.test(path) || !isModule(path)) return undefined;
    const text = readFileSync(path, "utf8");
    return text.length > MOST_CHARACTERS ? undefined : { path, text };
  } catch {
    // What cannot be read is Node's to complain about.
    return undefined;
  }
}

/** @param {string} path */
function isModule(path) {
  const extension = extname(path);
  if (extension !== ".js") return extension === ".mjs";
  for (let place = dirname(path); ; place = dirname(place)) {
    try {
      return JSON.parse(readFileSync(join(place, "package.json"), "utf8")).type === "module";
    } catch {
      if (place === dirname(place)) return false;
    }
  }
}

module.exports = { changeModules };
