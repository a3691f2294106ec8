"use strict";

const { existsSync, readdirSync, readFileSync, realpathSync, statSync } = require("node:fs");
const Module = require("node:module");
const { dirname, extname, join, resolve } = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");
const { LIBRARIES, withNames } = require("./bundled-libraries.js");

/** The most files of an application that are looked at, from the one that it begins with, and how large one may be. */
const MOST_FILES = 512;
const MOST_CHARACTERS = 2 ** 26;

/** What a file imports: the name of another one in quotes. */
const IMPORTED = /\b(?:from|import)\s*(?:\(\s*)?["']([^"'\n]+)["']/g;

/** The names among these that are looked at: of files, and of files of packages. */
const OF_FILE = /^\.{1,2}\//;
const IN_A_PACKAGE = /^[@\w][^:]*\.m?js$/;

/** An import of what the text does not name: of a chunk of webpack, for example. */
const COMPUTED = /\bimport\s*\((?!\s*(["'])[^"'\n]*\1\s*[,)])/;

/** What an ES module has that its path does not show to be one; some CommonJS, too. */
const MODULE_SYNTAX = /(?:^[ \t]*|[;}]\s*)(?:import\s*[\w$"'{*]|export\s*[\w{*])/m;

/** What takes the field `module` of a package before Node's fields, and then lets Node load that file. */
const PREFERS_MODULES = /[\\/]node_modules[\\/](?:vite-node|vitest|tinypool)[\\/]/;

const IN_PACKAGE = /[\\/]node_modules[\\/]/;

/** Whether Node loads a file as an ES module by its text, if nothing else shows what it is. */
const detectsModules = Boolean(/** @type {any} */ (process.features).require_module);

/** Node's hooks before version 22.15 run in a thread. */
const IN_THREAD = `
  import { createRequire } from "node:module";
  let changedModule;
  export const initialize = (file) => { ({ changedModule } = createRequire(file)(file)) };
  export const load = async (url, context, next) => changedModule(url, await next(url, context));`;

/** This file, also where the agent is a bundle: then it is a bundle of its own beside that of the agent. */
const OWN_FILE = join(__dirname, "module-bundles.js");

/** A module that is the path of a URL, and the types that Node takes. */
const IN_URL = /^([^,;]*)[^,]*?(;base64)?,(.*)$/is;
const MODULE_TYPES = ["text/javascript", "application/javascript"];
const TYPES = [...MODULE_TYPES, "application/json", "application/wasm"];

/** What stands for the path of such a module. */
const NAMELESS = "data:text/javascript";

/** Whether Node has our hook; unknown until it is asked. @type {boolean | undefined} */
let isHooked;

/** @typedef {(text: string, path: string) => string} Change */

/**
 * Let Node load changed texts of ES modules, if there are any: no function of `Module` gets theirs. Node's hooks change how the
 * other modules are loaded.
 * @param {string} entry the file that the thread begins with, or a URL `data:`
 * @param {Change} change
 * @param {(text: string, path: string) => void} left called with each text that Node loads as it was, because it refuses the hook
 */
function changeModules(entry, change, left) {
  const modules = entry.startsWith("data:") ? modulesInUrl(entry) : modulesFrom(resolve(entry));
  const changed = [];
  // All are read, because this names what is unhooked.
  for (const one of modules) if (change(one.text, one.path) !== one.text) changed.push(one);
  if (changed.length === 0 || changeLoaded(change)) return;
  for (const { text, path } of changed) left(text, path);
}

/**
 * Change the texts of ES modules when Node loads them, from now on: a file may be written anew until then.
 * @param {Change} change
 * @returns {boolean} whether Node has the hook; it refuses one that needs a thread, if its permissions or its policy do
 */
function changeLoaded(change) {
  if (isHooked !== undefined) return isHooked;
  try {
    hook(change);
    isHooked = true;
  } catch {
    isHooked = false;
  }
  return isHooked;
}

/** @param {Change} change */
function hook(change) {
  const { registerHooks } = /** @type {any} */ (Module);
  if (!registerHooks) return Module.register(asUrl(IN_THREAD), { data: OWN_FILE });
  registerHooks({
    load: (/** @type {string} */ url, /** @type {any} */ context, /** @type {Function} */ next) =>
      refusedUrl(url) ?? changedModule(url, next(url, context), change),
  });
}

/**
 * @param {string} url
 * @returns {any} a module that Node refuses, for a URL `data:` whose type it refuses: it would complain about the hook
 */
function refusedUrl(url) {
  const [, type] = url.startsWith("data:") ? (IN_URL.exec(new URL(url).pathname) ?? []) : [];
  if (type === undefined || TYPES.includes(type.trim().toLowerCase())) return undefined;
  return { format: type.includes("/") ? type : "null", source: "", shortCircuit: true };
}

/**
 * @param {string} url of a module
 * @param {any} loaded what Node or another hook has loaded
 * @param {Change} change
 * @returns {any} it; an ES module with its changed text
 */
function changedModule(url, loaded, change = withNames) {
  if (loaded?.format !== "module" || !loaded.source) return loaded;
  const path = pathOf(url);
  if (path === undefined) return loaded;
  // As Node does: without a byte order mark.
  const text = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
  if (text.length > MOST_CHARACTERS) return loaded;
  const changed = change(text, path);
  if (changed === text) return loaded;
  // Other hooks get what Node gives them: bytes.
  return { ...loaded, source: typeof loaded.source === "string" ? changed : Buffer.from(changed) };
}

/**
 * @param {string} url of an ES module
 * @returns {string | undefined} its path; none of what is left as it is
 */
function pathOf(url) {
  if (url.startsWith("data:")) return NAMELESS;
  if (!url.startsWith("file:")) return undefined;
  const path = fileURLToPath(url);
  return IN_PACKAGE.test(path) && !isOfLibrary(path) ? undefined : path;
}

/** @param {string} source of a module */
const asUrl = (source) => `data:text/javascript,${encodeURIComponent(source)}`;

/**
 * @param {string} url
 * @returns {{ path: string, text: string }[]} the module, read as Node reads it; none for what is Node's to refuse
 */
function modulesInUrl(url) {
  const [, type = "", base64, body] = IN_URL.exec(new URL(url).pathname) ?? [];
  if (!MODULE_TYPES.includes(type.trim().toLowerCase())) return [];
  try {
    const text = Buffer.from(decodeURIComponent(body), base64 ? "base64" : "utf8").toString();
    return [{ path: NAMELESS, text }];
  } catch {
    return [];
  }
}

/**
 * Read an application's ES modules, from the one that it begins with; those in packages only if they are of a library.
 * @param {string} entry
 * @returns {Generator<{ path: string, text: string }>}
 */
function* modulesFrom(entry) {
  const waiting = PREFERS_MODULES.test(realPath(entry)) ? [...modulesOfLibraries()] : [entry];
  const seen = new Set();
  for (let path = waiting.shift(); path !== undefined && seen.size < MOST_FILES; path = waiting.shift()) {
    const found = readModule(path);
    if (!found || seen.has(found.path)) continue;
    seen.add(found.path);
    yield found;
    if (IN_PACKAGE.test(found.path)) continue;
    const { names, isComputed } = importsOf(found.text);
    const place = dirname(found.path);
    for (const name of names) {
      if (OF_FILE.test(name)) waiting.push(fileOf(name, found.path));
      else if (IN_A_PACKAGE.test(name) && name.includes("/")) waiting.push(inPackage(place, name));
    }
    if (isComputed) waiting.push(...filesIn(place));
  }
}

/**
 * @param {string} text of a module
 * @returns {{ names: string[], isComputed: boolean }} what it imports, and whether it imports more, whose names it makes
 */
const importsOf = (text) => ({
  names: Array.from(text.matchAll(IMPORTED), ([, name]) => name),
  isComputed: COMPUTED.test(text),
});

/** @param {string} path @returns {string} it without links; as it is, if there is no such file */
function realPath(path) {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** @param {string} place a directory @returns {string[]} its files; none if it must not be read */
function filesIn(place) {
  try {
    return readdirSync(place).map((name) => join(place, name));
  } catch {
    return [];
  }
}

/** @param {string} name of a file in an import, which is a URL @param {string} path of the module @returns {string} its path */
function fileOf(name, path) {
  try {
    return fileURLToPath(new URL(name, pathToFileURL(path)));
  } catch {
    return join(dirname(path), name);
  }
}

/**
 * @param {string} place a directory
 * @param {string} name of a file, by its package
 * @returns {string} its path in the nearest `node_modules` that has it
 */
function inPackage(place, name) {
  for (let above = place; ; above = dirname(above)) {
    const path = join(above, "node_modules", name);
    if (existsSync(path) || above === dirname(above)) return path;
  }
}

/** @returns {Generator<string>} the ES modules of libraries that are installed for the working directory */
function* modulesOfLibraries() {
  for (const { name } of LIBRARIES) {
    const file = inPackage(process.cwd(), `${name}/package.json`);
    const { module } = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
    if (module) yield join(dirname(file), module);
  }
}

/**
 * @param {string} given
 * @returns {{ path: string, text: string } | undefined} nothing for what is no ES module of the application
 */
function readModule(given) {
  try {
    const path = realpathSync(given);
    if (!(IN_PACKAGE.test(path) ? isOfLibrary(path) : (isModule(path) ?? detectsModules))) return undefined;
    // A pipe can be read once.
    if (!statSync(path).isFile()) return undefined;
    const text = readFileSync(path, "utf8");
    if (text.length > MOST_CHARACTERS) return undefined;
    return isModule(path) === undefined && !MODULE_SYNTAX.test(text) ? undefined : { path, text };
  } catch {
    // What cannot be read is Node's to complain about.
    return undefined;
  }
}

/** @param {string} path in a package */
const isOfLibrary = (path) =>
  /\.m?js$/.test(path) && LIBRARIES.some(({ name }) => path.replaceAll("\\", "/").includes(`/node_modules/${name}/`));

/** Whether `.js` is an ES module, by directory; unknown without a field `type`. @type {Map<string, boolean | undefined>} */
const types = new Map();

/** @param {string} path @returns {boolean | undefined} unknown where Node tells by the text */
function isModule(path) {
  const extension = extname(path);
  return extension === ".js" ? isOfModules(dirname(path)) : extension === ".mjs";
}

/**
 * @param {string} place a directory
 * @returns {boolean | undefined}
 */
function isOfModules(place) {
  if (types.has(place)) return types.get(place);
  let found;
  try {
    const { type } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
    found = type === "module" || (type === "commonjs" ? false : undefined);
  } catch {
    found = place === dirname(place) ? undefined : isOfModules(dirname(place));
  }
  types.set(place, found);
  return found;
}

module.exports = { changeLoaded, changeModules, changedModule, importsOf };
