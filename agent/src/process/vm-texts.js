"use strict";

const { syncBuiltinESMExports } = require("node:module");
const { isProxy } = require("node:util").types;
const vm = require("node:vm");

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
 * What becomes of the texts that `node:vm` compiles.
 *
 * @typedef {object} Texts
 * @property {(given: Compiled) => string} change
 * @property {(context: object) => boolean} prepare called with a context before a changed text runs in it; whether it can. If not, the
 *   text runs as it was
 * @property {(text: string, path: string) => void} left called with each text that was not changed, because of its context or its
 *   options
 */

/**
 * Change the texts that `node:vm` compiles.
 * @param {Texts} texts
 * @returns {() => void} stops changing texts
 */
function changeTexts({ change, prepare, left }) {
  const own = /** @type {any} */ (vm);
  const { Script, compileFunction, SourceTextModule } = own;
  /** What compiles the text of a script as it was. @type {WeakMap<object, () => any>} */
  const changed = new WeakMap();
  /** The same for a script that a function of `node:vm` is about to make and run. @type {(() => any) | undefined} */
  let next;

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
    if (!isPlain(options)) {
      // Whoever asks it for a value may change what the application gets.
      left(text, NAMELESS);
      return content;
    }
    const cached = bytesOf(options?.cachedData);
    const now = change({ text, path: nameOf(options), isPart, cached, fits: ifCompiled(fits) });
    return now === text ? content : now;
  };
  /** @param {any} content @param {any} options @param {any} text changed @param {any} context @returns {any} what runs in the context */
  const within = (content, options, text, context) => {
    if (context === undefined || prepare(context)) return text;
    left(String(content), nameOf(options));
    return content;
  };
  const fitsScript = (/** @type {any} */ options) => (/** @type {string} */ text) =>
    !new Script(text, options).cachedDataRejected;
  /** @param {any} content @param {any} options @returns {() => any} */
  const originalOf = (content, options) => () => {
    left(String(content), nameOf(options));
    return new Script(content, options);
  };

  const undo = [
    replace(own, "Script", {
      construct(target, [content, options, ...rest], newTarget) {
        const text = read(content, options, fitsScript(options));
        const script = Reflect.construct(target, [text, options, ...rest], newTarget);
        if (text !== content) changed.set(script, originalOf(content, options));
        return script;
      },
    }),
    replace(Script.prototype, "runInContext", {
      apply(target, script, args) {
        const original = next ?? changed.get(script);
        next = undefined;
        if (original && !prepare(args[0])) return Reflect.apply(target, original(), args);
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
          next = text === content ? undefined : originalOf(content, options);
          try {
            return Reflect.apply(target, self, [text, context, options, ...rest]);
          } finally {
            next = undefined;
          }
        },
      }),
    ),
    replace(own, "compileFunction", {
      apply(target, self, [content, names, options, ...rest]) {
        const fits = (/** @type {string} */ text) => !compileFunction(text, names, options).cachedDataRejected;
        const text = typeof content === "string" ? read(content, options, fits) : content;
        const run = text === content ? content : within(content, options, text, options?.parsingContext);
        return Reflect.apply(target, self, [run, names, options, ...rest]);
      },
    }),
    // Only with a flag of Node.
    SourceTextModule &&
      replace(own, "SourceTextModule", {
        construct(target, [content, options, ...rest], newTarget) {
          // It throws if V8 does not take the code.
          const fits = (/** @type {string} */ text) => Boolean(new SourceTextModule(text, options));
          const text = typeof content === "string" ? read(content, options, fits) : content;
          const run = text === content ? content : within(content, options, text, options?.context);
          return Reflect.construct(target, [run, options, ...rest], newTarget);
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

/** @param {any} options that are plain @returns {string} the name of the file */
function nameOf(options) {
  const name = typeof options === "string" ? options : (options?.filename ?? options?.identifier);
  return typeof name === "string" ? name : NAMELESS;
}

/**
 * @param {any} options
 * @returns {boolean} whether nobody notices that they are read: no getter, and no trap
 */
function isPlain(options) {
  for (let one = options; one && typeof one === "object"; one = Object.getPrototypeOf(one)) {
    if (isProxy(one)) return false;
    if (one === Object.prototype) return true;
    if (Object.values(Object.getOwnPropertyDescriptors(one)).some(({ get }) => get)) return false;
  }
  return true;
}

/** @param {any} data */
const bytesOf = (data) =>
  ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("latin1") : "";

module.exports = { changeTexts };
