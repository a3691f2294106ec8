"use strict";

const { UsageError } = require("../errors.js");

/**
 * Globs of URLs, as Playwright 1.62 reads them: the glob is resolved as a URL
 * where its parts are plain text, and then matched over the whole URL.
 */

/** @typedef {{ baseURL?: string, webSocket?: boolean }} Base the URL that relative globs are resolved against */

/** Schemes whose globs are not resolved. */
const OPAQUE_SCHEME = /^(?:about|data|chrome|edge|file):/;
/** A glob that is not relative to the base URL. */
const ABSOLUTE = /^(?:https?:|wss?:|[^/]*[*{][^/]*:)\/\/[^]/i;
const HAS_WILDCARD = /[*?{}\\]/;

/**
 * @param {string} glob
 * @returns {boolean} whether the glob depends on the base URL
 */
function needsBase(glob) {
  return !(glob === "" || glob.startsWith("*") || OPAQUE_SCHEME.test(glob) || ABSOLUTE.test(glob));
}

/**
 * Resolve a glob against a base URL.
 *
 * @param {string} glob
 * @param {Base} [base]
 * @returns {string} the glob, with its plain parts in the form of a URL parser
 */
function resolveGlob(glob, { baseURL, webSocket = false } = {}) {
  if (glob === "" || glob.startsWith("*") || OPAQUE_SCHEME.test(glob)) return glob;
  const unescaped = glob.replaceAll("\\\\?", "?");
  const kept = new Placeholders(unescaped);
  const text = unescaped
    .split("/")
    .map((part, index) => kept.component(part, index))
    .join("/");
  const base = webSocket ? baseURL?.replace(/^http/i, "ws") : baseURL;
  return kept.restore(text, parseUrl(text, base));
}

/**
 * @param {string} text
 * @param {string} [base]
 */
function parseUrl(text, base) {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** Replaces the parts of a glob with wildcards while a URL parser reads the rest. */
class Placeholders {
  /** @param {string} glob */
  constructor(glob) {
    this.prefix = "glob";
    while (glob.includes(this.prefix)) this.prefix += "b";
    /** @type {[placeholder: string, original: string][]} */
    this.originals = [];
  }

  /**
   * @param {string} part between two slashes
   * @param {number} index
   */
  component(part, index) {
    if (part === "" || part === "." || part === "..") return part;
    if (index === 0 && part.endsWith(":")) return /[*{]/.test(part) ? this.scheme(part) : part;
    if (!HAS_WILDCARD.test(part)) return part;
    const at = part.indexOf("?");
    if (at < 0) return this.keep(part);
    return this.keep(part.slice(0, at)) + "?" + this.keep(part.slice(at + 1));
  }

  /** @param {string} original */
  scheme(original) {
    this.originals.push(["http:", original]);
    return "http:";
  }

  /** @param {string} original */
  keep(original) {
    if (original === "") return "";
    const placeholder = `${this.prefix}${this.originals.length}x`;
    this.originals.push([placeholder, original]);
    return placeholder;
  }

  /**
   * @param {string} text
   * @param {URL | undefined} url
   */
  restore(text, url) {
    const origin = url ? `${url.protocol}//${url.host}` : "";
    return this.originals.reduce((result, [placeholder, original]) => {
      const written = origin.includes(placeholder) ? original.toLowerCase() : original;
      return result.replace(placeholder, () => written);
    }, url?.href ?? text);
  }
}

/**
 * Convert a glob to a regular expression for the whole URL.
 *
 * @param {string} glob
 * @param {Base} [base]
 * @returns {RegExp}
 * @throws {UsageError} the braces are nested or unmatched
 */
function compileGlob(glob, base) {
  if (glob === "") return /^/;
  return new RegExp(`^${translate(resolveGlob(glob, base), glob)}$`);
}

/**
 * @param {string} glob resolved
 * @param {string} given the glob of the test, for the error
 */
function translate(glob, given) {
  let source = "";
  let inGroup = false;
  for (let i = 0; i < glob.length; i += 1) {
    const char = glob[i];
    if (char === "*") {
      const end = afterStars(glob, i);
      const [piece, next] = stars(glob, i, end);
      source += piece;
      i = next - 1;
    } else if (char === "\\" && i + 1 < glob.length) {
      i += 1;
      source += escape(glob[i]);
    } else if (char === "{") {
      if (inGroup) throw new UsageError(`the glob ${JSON.stringify(given)} has nested braces: { within { }`);
      inGroup = true;
      source += "(?:";
    } else if (char === "}") {
      if (!inGroup) throw new UsageError(`the glob ${JSON.stringify(given)} has a } without {`);
      inGroup = false;
      source += ")";
    } else source += char === "," && inGroup ? "|" : escape(char);
  }
  if (inGroup) throw new UsageError(`the glob ${JSON.stringify(given)} has a { without }`);
  return source;
}

/**
 * @param {string} glob
 * @param {number} start
 */
function afterStars(glob, start) {
  let end = start;
  while (glob[end] === "*") end += 1;
  return end;
}

/**
 * @param {string} glob
 * @param {number} start of a run of stars
 * @param {number} end
 * @returns {[source: string, next: number]}
 */
function stars(glob, start, end) {
  if (end - start === 1) return ["[^/]*", end];
  if (glob[end] !== "/") return [".*", end];
  return [glob[start - 1] === "/" ? "(?:.+/)?" : ".*/", end + 1];
}

/** @param {string} char */
const escape = (char) => char.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");

module.exports = { compileGlob, needsBase, resolveGlob };
