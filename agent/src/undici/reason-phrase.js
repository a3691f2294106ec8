"use strict";

const { isUtf8 } = require("node:buffer");

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
 * @param {string} phrase its bytes, as latin-1; a test may give a text that is no UTF-8, which is shown as it is
 * @returns {string} as undici shows it
 */
const shownByUndici = (phrase) =>
  phrase
    .split(NO_UTF8)
    .map((part) => Buffer.from(part, "latin1"))
    .map((bytes) => bytes.toString(isUtf8(bytes) ? "utf8" : "latin1"))
    .join("\ufffd");

module.exports = { phraseOf, shownByUndici };
