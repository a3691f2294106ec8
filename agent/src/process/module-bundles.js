"use strict";

const { existsSync, readdirSync, readFileSync, realpathSync } = require("node:fs");
const Module = require("node:module");
const { dirname, extname, join, resolve } = require("node:path");
const { pathToFileURL } = require("node:url");
const { LIBRARIES, withNames } = require("./bundled-libraries.js");

/** The most files of an application that are looked at, from the one that it begins with, and how large one may be. */
const MOST_FILES = 512;
const MOST_CHARACTERS = 2 ** 26;

/** What a file imports from another one, and from a file of a package, by its path. */
const IMPORTED = /\b(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"'\n]+|[@\w][^"'\n:]*\/[^"'\n:]+\.m?js)["']/g;

/** An import of what the text does not name: of a chunk of webpack, for example. */
const COMPUTED = /\bimport\s*\((?!\s*(["'])[^"'\n]*\1\s*[,)])/;

/** What takes the field `module` of a package before Node's fields, and then lets Node load that file. */
const PREFERS_MODULES = /[\\/]node_modules[\\/](?:vite-node|vitest|tinypool)[\\/]/;

const IN_PACKAGE = /[\\/]node_modules[\\/]/;

/** Node's hooks before version 22.15 run in a thread, which gets the texts. */
const IN_THREAD = `
  let texts = {};
  export const initialize = (given) => { texts = given };
  export const load = (url, context, next) =>
    url in texts ? { format: "module", source: texts[url], shortCircuit: true } : next(url, context);`;

/** The same for modules that are URLs. */
const URLS_IN_THREAD = `
  import { createRequire } from "node:module";
  let textOfUrl;
  export const initialize = (file) => { ({ textOfUrl } = createRequire(file)(file)) };
  export const load = (url, context, next) => {
    const source = textOfUrl(url);
    return source === undefined ? next(url, context) : { format: "module", source, shortCircuit: true };
  };`;

/** An ES module that is the path of a URL. */
const IN_URL = /^(?:text|application)\/javascript[^,]*?(;base64)?,(.*)$/is;

/** What stands for the path of such a module. */
const NAMELESS = "data:text/javascript";

/**
 * Let Node load changed texts of ES modules: no function of `Module` gets theirs. Node's hooks are used only if there is such
 * a text, because they change how the other modules are loaded.
 * @param {string} entry the file that the thread begins with, or a URL `data:`
 * @param {(text: string, path: string) => string} change
 */
function changeModules(entry, change) {
  /** @type {Record<string, string>} */
  const texts = {};
  const modules = entry.startsWith("data:") ? modulesInUrl(entry) : modulesFrom(resolve(entry));
  for (const { path, text, url = pathToFileURL(path).href } of modules) {
    const changed = change(text, path);
    if (changed !== text) texts[url] = changed;
  }
  if (Object.keys(texts).length === 0) return;
  const { registerHooks } = /** @type {any} */ (Module);
  if (!registerHooks) return Module.register(asUrl(IN_THREAD), { data: texts });
  registerHooks({
    load: (/** @type {string} */ url, /** @type {any} */ context, /** @type {Function} */ next) =>
      Object.hasOwn(texts, url) ? { format: "module", source: texts[url], shortCircuit: true } : next(url, context),
  });
}

/** Let Node load changed texts of ES modules that are URLs `data:`, from now on. */
function changeUrls() {
  const { registerHooks } = /** @type {any} */ (Module);
  if (!registerHooks) return Module.register(asUrl(URLS_IN_THREAD), { data: __filename });
  registerHooks({
    load(/** @type {string} */ url, /** @type {any} */ context, /** @type {Function} */ next) {
      const source = textOfUrl(url);
      return source === undefined ? next(url, context) : { format: "module", source, shortCircuit: true };
    },
  });
}

/**
 * @param {string} url of a module
 * @returns {string | undefined} its text with our calls; nothing, if it is to stay as it is
 */
function textOfUrl(url) {
  const [module] = url.startsWith("data:") ? modulesInUrl(url) : [];
  const text = module && withNames(module.text);
  return text === module?.text ? undefined : text;
}

/** @param {string} source of a module */
const asUrl = (source) => `data:text/javascript,${encodeURIComponent(source)}`;

/**
 * @param {string} url
 * @returns {{ path: string, text: string, url: string }[]} the module, read as Node reads it; none for what is Node's to refuse
 */
function modulesInUrl(url) {
  const [, base64, body] = IN_URL.exec(new URL(url).pathname) ?? [];
  if (body === undefined) return [];
  try {
    const text = Buffer.from(decodeURIComponent(body), base64 ? "base64" : "utf8").toString();
    return [{ path: NAMELESS, text, url }];
  } catch {
    return [];
  }
}

/**
 * Read an application's ES modules, from the one that it begins with; those in packages only if they are of a library.
 * @param {string} entry
 * @returns {Generator<{ path: string, text: string, url?: string }>}
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
    const place = dirname(found.path);
    for (const [, name] of found.text.matchAll(IMPORTED)) {
      waiting.push(name.startsWith(".") ? join(place, name) : inPackage(place, name));
    }
    if (COMPUTED.test(found.text)) waiting.push(...readdirSync(place).map((name) => join(place, name)));
  }
}

/** @param {string} path @returns {string} it without links; as it is, if there is no such file */
function realPath(path) {
  try {
    return realpathSync(path);
  } catch {
    return path;
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
    if (!(IN_PACKAGE.test(path) ? isOfLibrary(path) : isModule(path))) return undefined;
    const text = readFileSync(path, "utf8");
    return text.length > MOST_CHARACTERS ? undefined : { path, text };
  } catch {
    // What cannot be read is Node's to complain about.
    return undefined;
  }
}

/** @param {string} path in a package */
const isOfLibrary = (path) =>
  /\.m?js$/.test(path) && LIBRARIES.some(({ name }) => path.replaceAll("\\", "/").includes(`/node_modules/${name}/`));

/** Whether `.js` is an ES module, by directory. @type {Map<string, boolean>} */
const types = new Map();

/** @param {string} path */
function isModule(path) {
  const extension = extname(path);
  return extension === ".js" ? isOfModules(dirname(path)) : extension === ".mjs";
}

/**
 * @param {string} place a directory
 * @returns {boolean}
 */
function isOfModules(place) {
  const known = types.get(place);
  if (known !== undefined) return known;
  let found;
  try {
    found = JSON.parse(readFileSync(join(place, "package.json"), "utf8")).type === "module";
  } catch {
    found = place !== dirname(place) && isOfModules(dirname(place));
  }
  types.set(place, found);
  return found;
}

module.exports = { changeModules, changeUrls, textOfUrl };
