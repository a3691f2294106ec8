"use strict";

/**
 * The reason phrase of a response. It has bytes (RFC 9112, section 4), which Node's own client and the protocol show as
 * latin-1, and undici as UTF-8.
 */

/** Stands for a byte that is not UTF-8, and that undici has replaced. It is none either, so undici shows the same again. */
const NO_UTF8 = "\xff";
const REPLACED = /\ufffd/g;

/**
 * @param {string | undefined} text as undici shows it
 * @returns {string} its bytes, as latin-1
 */
const phraseOf = (text = "") =>
  text
    .split(REPLACED)
    .map((part) => Buffer.from(part, "utf8").toString("latin1"))
    .join(NO_UTF8);

/**
 * @param {string} phrase its bytes, as latin-1
 * @returns {string} as undici shows it
 */
const shownByUndici = (phrase) => Buffer.from(phrase, "latin1").toString("utf8");

module.exports = { phraseOf, shownByUndici };
