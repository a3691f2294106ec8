"use strict";

const { syncBuiltinESMExports } = require("node:module");
const vm = require("node:vm");
const { globalOf } = require("./vm-contexts.js");

/** What `node:vm` calls a text that has no file. */
const NAMELESS = "evalmachine.<anonymous>";

/**
 * A text that is compiled.
 *
 * @typedef {object} Compiled
 * @property {string} text
 * @property {string} path of its file, or what `node:vm` calls it
 * @property {boolean} isPart whether it may be a single file of a package, as each that Jest compiles
 * @property {string} cached the code of `cachedData`, one character for each byte; empty without one
 * @property {(text: string) => boolean} fits whether V8 takes that code for a text
 */

/**
 * Change the texts that `node:vm` compiles.
 * @param {(given: Compiled) => string} change
 * @param {(realm: typeof globalThis) => void} prepare called with the global object of a context, before a changed text runs in
 *   it
 * @returns {() => void} stops changing texts
 */
function changeTexts(change, prepare) {
  const own = /** @type {any} */ (vm);
  const { Script, compileFunction, SourceTextModule } = own;
  /** @type {WeakSet<object>} */
  const changed = new WeakSet();
  /** Whether a function of `node:vm` is about to run a changed text. */
  let isNext = false;

  /**
   * @param {any} content
   * @param {any} options
   * @param {(text: string) => boolean} fits
   * @param {boolean} isPart
   * @returns {any}
   */
  const read = (content, options, fits, isPart = true) => {
    const text = asText(content);
    if (text === undefined) return content;
    const name = typeof options === "string" ? options : (options?.filename ?? options?.identifier);
    const path = typeof name === "string" ? name : NAMELESS;
    const now = change({ text, path, isPart, cached: bytesOf(options?.cachedData), fits: ifCompiled(fits) });
    return now === text ? content : now;
  };
  const fitsScript = (/** @type {any} */ options) => (/** @type {string} */ text) =>
    !new Script(text, options).cachedDataRejected;
  const within = (/** @type {any} */ context) => {
    let realm;
    try {
      realm = globalOf(context);
    } catch {
      // What is no context is Node's to refuse.
      return;
    }
    prepare(realm);
  };

  const undo = [
    replace(own, "Script", {
      construct(target, [content, options, ...rest], newTarget) {
        const text = read(content, options, fitsScript(options));
        const script = Reflect.construct(target, [text, options, ...rest], newTarget);
        if (text !== content) changed.add(script);
        return script;
      },
    }),
    replace(Script.prototype, "runInContext", {
      apply(target, script, args) {
        if (isNext || changed.has(script)) {
          isNext = false;
          within(args[0]);
        }
        return Reflect.apply(target, script, args);
      },
    }),
    replace(own, "runInThisContext", {
      apply(target, self, [content, options, ...rest]) {
        return Reflect.apply(target, self, [read(content, options, fitsScript(options), false), options, ...rest]);
      },
    }),
    ...["runInContext", "runInNewContext"].map((name) =>
      replace(own, name, {
        apply(target, self, [content, context, options, ...rest]) {
          const text = read(content, options, fitsScript(options));
          isNext = text !== content;
          try {
            return Reflect.apply(target, self, [text, context, options, ...rest]);
          } finally {
            isNext = false;
          }
        },
      }),
    ),
    replace(own, "compileFunction", {
      apply(target, self, [content, names, options, ...rest]) {
        const fits = (/** @type {string} */ text) => !compileFunction(text, names, options).cachedDataRejected;
        const text = typeof content === "string" ? read(content, options, fits) : content;
        if (text !== content) within(options?.parsingContext);
        return Reflect.apply(target, self, [text, names, options, ...rest]);
      },
    }),
    // Only with a flag of Node.
    SourceTextModule &&
      replace(own, "SourceTextModule", {
        construct(target, [content, options, ...rest], newTarget) {
          // It throws if V8 does not take the code.
          const fits = (/** @type {string} */ text) => Boolean(new SourceTextModule(text, options));
          const text = typeof content === "string" ? read(content, options, fits) : content;
          if (text !== content) within(options?.context);
          return Reflect.construct(target, [text, options, ...rest], newTarget);
        },
      }),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const act of undo) act?.();
    syncBuiltinESMExports();
  };
}

/**
 * @param {any} owner
 * @param {string} name of a function or class of it
 * @param {ProxyHandler<any>} traps
 * @returns {() => void} undoes it, unless somebody else has replaced it since
 */
function replace(owner, name, traps) {
  const original = owner[name];
  const { construct } = traps;
  /** @type {any} */
  const replaced = new Proxy(original, {
    ...traps,
    ...(construct && {
      construct: (target, args, newTarget) => construct(target, args, newTarget === replaced ? target : newTarget),
    }),
  });
  const change = (/** @type {any} */ value) => {
    owner[name] = value;
    if (construct) original.prototype.constructor = value;
  };
  change(replaced);
  return () => {
    if (owner[name] === replaced) change(original);
  };
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
 * @param {(text: string) => boolean} fits throws for what cannot be compiled
 * @returns {(text: string) => boolean}
 */
const ifCompiled = (fits) => (text) => {
  try {
    return fits(text);
  } catch {
    return false;
  }
};

/** @param {any} data */
const bytesOf = (data) =>
  ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("latin1") : "";

module.exports = { changeTexts };
