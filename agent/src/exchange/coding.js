"use strict";

const zlib = require("node:zlib");
const headers = require("../protocol/headers.js");

/**
 * Content codings: the history and handlers get decoded bodies; the application gets the
 * encoded ones, which its client decodes.
 */

/** The size from which a copy is decoded off the main thread; bytes. */
const SYNC_BYTES = 256 * 1024;
const LARGEST_OUTPUT = 64 * 1024 * 1024;

/** @typedef {(data: Buffer, options: object) => Buffer} SyncDecoder */

/** @type {Record<string, { sync: SyncDecoder, later: Function, options: object }>} */
const DECODERS = {};
const flushed = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
const deflates = { sync: inflateAny, later: /** @type {any} */ (laterInflate), options: flushed };
const gzips = { sync: zlib.gunzipSync, later: zlib.gunzip, options: flushed };
DECODERS.gzip = DECODERS["x-gzip"] = gzips;
DECODERS.deflate = deflates;
DECODERS.br = {
  sync: zlib.brotliDecompressSync,
  later: zlib.brotliDecompress,
  options: { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH },
};
const zstd = /** @type {any} */ (zlib);
if (zstd.zstdDecompressSync) {
  DECODERS.zstd = DECODERS.zst = {
    sync: zstd.zstdDecompressSync,
    later: zstd.zstdDecompress,
    options: { finishFlush: zstd.constants.ZSTD_e_flush },
  };
}

/** @param {Buffer} data */
const hasZlibHead = (data) => (data[0] & 0x0f) === 8 && (data[0] * 256 + data[1]) % 31 === 0;

/** Decode "deflate": servers send both the zlib format and raw deflate by this name.
 * @type {SyncDecoder} */
function inflateAny(data, options) {
  return hasZlibHead(data) ? zlib.inflateSync(data, options) : zlib.inflateRawSync(data, options);
}

/**
 * @param {Buffer} data
 * @param {object} options
 * @param {(error: Error | null, result: Buffer) => void} done
 */
function laterInflate(data, options, done) {
  return (hasZlibHead(data) ? zlib.inflate : zlib.inflateRaw)(data, options, done);
}

/**
 * @param {string | undefined} header a `content-encoding`
 * @returns {string[]} the codings in the order of decoding
 */
function codingsOf(header) {
  const names = (header ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  return names.filter((name) => name && name !== "identity").reverse();
}

/** @param {string[]} codings */
const known = (codings) => codings.every((name) => Object.hasOwn(DECODERS, name));

/**
 * Decode a body synchronously.
 * @param {Buffer} body may be cut short; then its beginning is decoded
 * @param {string | undefined} header its `content-encoding`
 * @returns {Buffer | undefined} `undefined` if it cannot be decoded
 */
function decode(body, header) {
  const codings = codingsOf(header);
  if (!known(codings)) return undefined;
  try {
    return codings.reduce((data, name) => {
      const { sync, options } = DECODERS[name];
      return data.length ? sync(data, { ...options, maxOutputLength: LARGEST_OUTPUT }) : data;
    }, body);
  } catch {
    return undefined;
  }
}

/**
 * Decode a body as {@link decode} does, off the main thread if it is large.
 * @param {Buffer} body
 * @param {string | undefined} header its `content-encoding`
 * @param {(decoded: Buffer | undefined) => void} done called synchronously if the body is small
 */
function decodeThen(body, header, done) {
  const codings = codingsOf(header);
  if (codings.length !== 1 || !known(codings) || body.length <= SYNC_BYTES) return done(decode(body, header));
  const { later, options } = DECODERS[codings[0]];
  later(
    body,
    { ...options, maxOutputLength: LARGEST_OUTPUT },
    (/** @type {Error | null} */ error, /** @type {Buffer} */ decoded) => done(error ? undefined : decoded),
  );
}

/**
 * Make headers that describe a decoded body.
 * @param {headers.Pairs} pairs
 * @param {Buffer} [body] without it, `content-length` is left out
 * @returns {headers.Pairs}
 */
function decodedPairs(pairs, body) {
  const rest = headers.without(pairs, "content-encoding", "transfer-encoding");
  if (!body) return headers.without(rest, "content-length");
  return headers.get(rest, "content-length") ? headers.set(rest, "content-length", String(body.length)) : rest;
}

module.exports = { decodedPairs, decode, decodeThen };
