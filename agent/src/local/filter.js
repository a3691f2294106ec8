"use strict";

/** The longest beginning or ending that is looked up, so that a look-up is linear in the URL's length; characters. */
const MAX_END = 512;
/** The length of the pieces that are looked up: four characters make one small integer. */
const PIECE = 4;
/** The bits of such an integer. */
const PIECE_BITS = 2 ** 28 - 1;
/** The length of the tails of URLs that are looked up; characters. */
const TAIL = 8;
/** The limit of the entries that are compared with one URL; beyond it the proxy is asked. */
const MOST_LOOKED_AT = 32;
/** Components that nearly every URL has. */
const COMMON = new Set(["", "http:", "https:"]);

/**
 * A condition on the URLs that a route may match. `texts` are the beginning of the URL, parts that it contains, and
 * its end; each may be empty, and a single text is a whole URL. `context` stands for all requests with that context,
 * `all` for all requests.
 *
 * @typedef {{ texts?: string[], all?: boolean, context?: string }} Entry
 */

/**
 * Decides which requests the proxy must be asked about. Each entry is indexed by one text that a matching
 * URL must contain, the one with the fewest other entries, so that the cost does not grow with their number.
 */
class Filter {
  constructor() {
    /** The index, key and value of each entry, by the entry's JSON. @type {Map<string, [Map<any, Set<string[]>>, string | number, string[]] | undefined>} */
    this.known = new Map();
    /** The number of entries that match all requests. */
    this.everything = 0;
    /** @type {Set<string>} */
    this.contexts = new Set();
    /** @type {Set<string>} */
    this.exact = new Set();
    /** Entries by the beginning of the URL, up to a slash. @type {Map<string, Set<string[]>>} */
    this.beginnings = new Map();
    /** Entries by the end of the URL, after a slash. @type {Map<string, Set<string[]>>} */
    this.endings = new Map();
    /** Entries by a part between two slashes. @type {Map<string, Set<string[]>>} */
    this.components = new Map();
    /** Entries by the last `TAIL` characters. @type {Map<string, Set<string[]>>} */
    this.tails = new Map();
    /** Entries by any `PIECE` characters, as an integer. @type {Map<number, Set<string[]>>} */
    this.pieces = new Map();
    /** Entries whose texts are too short for the other indexes. @type {Map<string, Set<string[]>>} */
    this.rest = new Map();
  }

  /** @param {unknown} given an entry; an invalid one matches all requests */
  add(given) {
    const entry = readEntry(given);
    const key = JSON.stringify(entry);
    if (this.known.has(key)) return;
    const { texts, context } = entry;
    if (context !== undefined) this.contexts.add(context);
    else if (!texts) this.everything += 1;
    else if (texts.length === 1) this.exact.add(texts[0]);
    else {
      const [shelf, label] = this.placeOf(texts);
      const filed = shelf.get(label);
      if (filed) filed.add(texts);
      else shelf.set(label, new Set([texts]));
      this.known.set(key, [shelf, label, texts]);
      return;
    }
    this.known.set(key, undefined);
  }

  /** @param {unknown} given an entry that was added */
  drop(given) {
    const entry = readEntry(given);
    const key = JSON.stringify(entry);
    if (!this.known.has(key)) return;
    const place = this.known.get(key);
    this.known.delete(key);
    const { texts, context } = entry;
    if (place) {
      const [shelf, label, own] = place;
      const filed = shelf.get(label);
      filed?.delete(own);
      if (!filed?.size) shelf.delete(label);
    } else if (context !== undefined) this.contexts.delete(context);
    else if (texts) this.exact.delete(texts[0]);
    else this.everything -= 1;
  }

  /**
   * @param {string} url
   * @param {string | undefined} context that the request carries
   * @returns {boolean} whether the proxy must be asked about the request
   */
  asks(url, context) {
    if (this.everything > 0 || this.exact.has(url)) return true;
    if (context !== undefined && this.contexts.has(context)) return true;
    const look = new Look(url);
    const slashes = this.beginnings.size + this.endings.size + this.components.size > 0;
    if (slashes && this.asksBySlashes(url, look)) return true;
    if (this.tails.size > 0) {
      for (let length = 1; length <= TAIL; length += 1) if (look.finds(this.tails, url.slice(-length))) return true;
    }
    if (this.pieces.size > 0 && piecesOf(url, (piece) => look.finds(this.pieces, piece))) return true;
    for (const filed of this.rest.values()) if (look.findsAmong(filed)) return true;
    return false;
  }

  /**
   * @param {string} url
   * @param {Look} look
   */
  asksBySlashes(url, look) {
    const { beginnings, endings, components } = this;
    let from = 0;
    for (let at = url.indexOf("/"); ; at = url.indexOf("/", from)) {
      const end = at < 0 ? url.length : at;
      if (look.finds(components, url.slice(from, end))) return true;
      if (end <= MAX_END && look.finds(beginnings, url.slice(0, end))) return true;
      if (from > 0 && url.length - from <= MAX_END && look.finds(endings, url.slice(from))) return true;
      if (at < 0) return false;
      from = at + 1;
    }
  }

  /**
   * @param {string[]} texts
   * @returns {[Map<any, Set<string[]>>, string | number]} the index and the key with the fewest other entries
   */
  placeOf(texts) {
    /** @type {[Map<any, Set<string[]>>, string | number] | undefined} */
    let best;
    let fewest = Infinity;
    const offer = (/** @type {Map<any, Set<string[]>>} */ shelf, /** @type {string | number} */ label) => {
      const crowd = shelf.get(label)?.size ?? 0;
      if (crowd < fewest) [best, fewest] = [[shelf, label], crowd];
    };
    const first = texts[0];
    const last = texts[texts.length - 1];
    const beginning = first.slice(0, Math.max(0, first.lastIndexOf("/")));
    if (beginning.includes("//") && !beginning.endsWith("//") && beginning.length <= MAX_END) {
      offer(this.beginnings, beginning);
    }
    const ending = last.slice(last.indexOf("/") + 1);
    if (last.includes("/") && ending && ending.length <= MAX_END) offer(this.endings, ending);
    texts.forEach((text, n) => {
      const parts = text.split("/");
      const whole = parts.slice(n === 0 ? 0 : 1, n === texts.length - 1 ? undefined : -1);
      for (const part of whole) if (!COMMON.has(part)) offer(this.components, part);
    });
    if (best && fewest < MOST_LOOKED_AT / 8) return best;
    if (last) offer(this.tails, last.slice(-TAIL));
    if (best && fewest < MOST_LOOKED_AT / 8) return best;
    for (const text of texts) piecesOf(text, (piece) => offer(this.pieces, piece));
    return best ?? [this.rest, ""];
  }
}

/**
 * @param {any} given
 * @returns {Entry}
 */
function readEntry(given) {
  const { texts, context } = given ?? {};
  if (typeof context === "string") return { context };
  const isTexts = Array.isArray(texts) && texts.every((text) => typeof text === "string") && texts.some(Boolean);
  return isTexts ? { texts } : { all: true };
}

/**
 * @param {string} text
 * @param {(piece: number) => boolean | void} act called with each piece until it returns true
 * @returns {boolean} whether it returned true
 */
function piecesOf(text, act) {
  let piece = 0;
  for (let at = 0; at < text.length; at += 1) {
    piece = ((piece << 7) | (text.charCodeAt(at) & 127)) & PIECE_BITS;
    if (at >= PIECE - 1 && act(piece)) return true;
  }
  return false;
}

/** The look-up of one URL. */
class Look {
  /** @param {string} url */
  constructor(url) {
    this.url = url;
    this.left = MOST_LOOKED_AT;
  }

  /**
   * @param {Map<any, Set<string[]>>} shelf
   * @param {string | number} label
   */
  finds(shelf, label) {
    const filed = shelf.get(label);
    return filed !== undefined && this.findsAmong(filed);
  }

  /**
   * @param {Set<string[]>} filed
   * @returns {boolean} whether the URL has all texts of one of them, or too many entries were compared
   */
  findsAmong(filed) {
    const { url } = this;
    for (const texts of filed) {
      this.left -= 1;
      if (this.left < 0 || hasAll(url, texts)) return true;
    }
    return false;
  }
}

/**
 * @param {string} url
 * @param {string[]} texts
 */
function hasAll(url, texts) {
  const last = texts.length - 1;
  if (!url.startsWith(texts[0]) || !url.endsWith(texts[last])) return false;
  for (let n = 1; n < last; n += 1) if (!url.includes(texts[n])) return false;
  return true;
}

module.exports = { Filter };
