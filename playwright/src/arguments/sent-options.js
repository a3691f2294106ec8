"use strict";

const { readFile } = require("node:fs/promises");
const mime = require("mime-types");
const { HEADER_OPTIONS } = require("trafficmock-agent/protocol/facts");
const { UsageError } = require("../errors.js");
const headers = require("./headers.js");
const { BYTES_TYPE } = require("./request-overrides.js");
const { contentOf, isParts } = require("./stream-parts.js");

/**
 * The options of an answer, in the form in which the proxy gets them, which reads them. What only JavaScript can read is
 * read here: a body becomes base64, a file is read, headers become pairs. Everything else is sent as the test has written
 * it, under its name.
 *
 * @typedef {Record<string, unknown>} SentOptions
 */

/**
 * @param {object} given the options of `mock`, or of one answer of its `sequence`
 * @returns {Promise<SentOptions>}
 * @throws {UsageError} a body or headers have a wrong type
 */
async function sentOptions(given) {
  /** @type {SentOptions} */
  const sent = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    sent[name] = Object.hasOwn(READ, name) ? await READ[name](value, name) : written(value);
  }
  return sent;
}

const READ = /** @type {Record<string, (value: any, name: string) => unknown>} */ ({
  ...Object.fromEntries(HEADER_OPTIONS.map((name) => [name, linesOf])),
  body: bodyOf,
  json: jsonOf,
  path: async (path) => ({ content: base64(await readFile(path)), type: mime.lookup(path) || BYTES_TYPE }),
  chunks: chunksOf,
  sequence: sequenceOf,
});

/**
 * @param {any} given
 * @param {string} name of the option
 */
function linesOf(given, name) {
  return given ? headers.lenient(given, name) : null;
}

/** @param {unknown} answers */
async function sequenceOf(answers) {
  if (!Array.isArray(answers)) return written(answers);
  const sent = [];
  for (const [index, answer] of answers.entries()) {
    const isObject = typeof answer === "object" && answer !== null && !Array.isArray(answer);
    try {
      sent.push(isObject ? await sentOptions(answer) : written(answer));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw new UsageError(`answer ${index + 1} of the sequence: ${error.message}`);
    }
  }
  return sent;
}

/** @param {unknown} body */
function bodyOf(body) {
  if (typeof body === "string" || body instanceof Uint8Array) return base64(contentOf(body));
  const hint = body === null ? "for an empty body leave it out" : "for objects there is json";
  throw new UsageError(`body must be a string or a Buffer, not ${body === null ? "null" : typeof body}; ${hint}`);
}

/** @param {unknown} value */
function jsonOf(value) {
  const text = JSON.stringify(value);
  if (text === undefined) throw new UsageError(`json cannot be a ${typeof value}`);
  return base64(Buffer.from(text));
}

/** @param {Iterable<string | Uint8Array>} chunks */
function chunksOf(chunks) {
  if (!isParts(chunks) || !(Symbol.iterator in chunks)) {
    throw new UsageError(`chunks is an array of the pieces, not ${JSON.stringify(chunks)}`);
  }
  return [...chunks].map((each) => base64(contentOf(each)));
}

/** @param {Buffer} content */
const base64 = (content) => content.toString("base64");

/**
 * @param {unknown} value
 * @returns {unknown} the value; for one that JSON does not have, how it is shown
 */
function written(value) {
  if (value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value)) return value;
  return { foreign: typeof value === "object" ? JSON.stringify(value) : String(value) };
}

module.exports = { sentOptions };
