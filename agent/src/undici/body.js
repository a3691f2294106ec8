"use strict";

const { types } = require("node:util");
const { Readable } = require("node:stream");
const { loadOwn } = require("./own-dispatcher.js");

/**
 * A request's body, read for the announcement, and in a form that can be sent.
 *
 * @typedef {object} Held
 * @property {Buffer | null} bytes
 * @property {boolean} truncated whether the body is longer than `bytes`
 * @property {any} body for undici, of the same kind as before, so that length and framing stay
 * @property {string} [contentType] of a form, with its boundary
 * @property {number} [size] of a form; bytes
 */

/**
 * Read a body that is in memory.
 * @param {any} body undici's `opts.body`
 * @returns {Held | undefined} `undefined` for other kinds of bodies
 */
function readNow(body) {
  if (body == null) return { bytes: null, truncated: false, body };
  if (typeof body === "string") return { bytes: Buffer.from(body), truncated: false, body };
  if (Buffer.isBuffer(body)) return { bytes: body, truncated: false, body };
  if (ArrayBuffer.isView(body)) {
    return { bytes: Buffer.from(body.buffer, body.byteOffset, body.byteLength), truncated: false, body };
  }
  if (types.isArrayBuffer(body)) return { bytes: Buffer.from(body), truncated: false, body };
  return undefined;
}

/**
 * @param {any} body
 * @returns {boolean} whether it is a Blob, which is read whole
 */
const isBlob = (body) => typeof body.arrayBuffer === "function";

/**
 * Make a stream in the place of one that was read to its end. undici sends the length of
 * a stream of bytes that has ended; it does not know the length of other streams.
 * @param {Uint8Array[]} chunks
 * @param {Readable} given
 * @returns {Readable}
 */
function streamOf(chunks, given) {
  if (given.readableObjectMode) return Readable.from(chunks, { objectMode: false });
  const stream = new Readable({ read() {} });
  for (const chunk of chunks) stream.push(chunk);
  stream.push(null);
  return stream;
}

/**
 * @param {any} body
 * @returns {boolean} whether it is a form of the Fetch standard; npm `form-data` has the same tag, and is a stream
 */
const isForm = (body) => body?.[Symbol.toStringTag] === "FormData" && typeof body.getAll === "function";

/**
 * @param {any} form a `FormData` of any copy of undici
 * @returns {Promise<{ body: any, contentType: string | undefined, size: number | undefined }>} the encoded form; its files are read while `body` is read
 */
async function encodeForm(form) {
  const { FormData, Response } = ownClasses();
  const full = new FormData();
  const without = new FormData();
  let size = 0;
  for (const [name, value] of form) {
    if (typeof value === "string") for (const each of [full, without]) each.append(name, value);
    else {
      full.append(name, value, value.name);
      without.append(name, new File([], value.name, { type: value.type }), value.name);
      size += value.size;
    }
  }
  const [encoded, rest] = [new Response(full), new Response(without)];
  const [contentType, other] = [encoded, rest].map(({ headers }) => headers.get("content-type") ?? undefined);
  // Both differ only by the contents of the files, if their boundaries have the same length.
  const isKnown = contentType?.length === other?.length;
  return { body: encoded.body, contentType, size: isKnown ? size + (await rest.arrayBuffer()).byteLength : undefined };
}

/** @returns the classes of Node's own undici; that the agent reads them is no use of the application's */
const ownClasses = () => loadOwn(() => ({ FormData, Response }));

/** @param {any} body */
function iteratorOf(body) {
  if (body[Symbol.asyncIterator]) return body[Symbol.asyncIterator]();
  if (body[Symbol.iterator]) return body[Symbol.iterator]();
  // An old stream, which has only events. It may begin to flow only when it is asked to.
  const stream = new Readable({ objectMode: true }).wrap(body);
  body.resume?.();
  return stream[Symbol.asyncIterator]();
}

/**
 * @param {any} body a stream
 * @returns {boolean} whether it has ended before it is read: undici knows its length then, and sends it
 */
function isEnded(body) {
  const { objectMode, ended, length } = body?._readableState ?? {};
  return objectMode === false && ended === true && Number.isFinite(length);
}

module.exports = { isEnded, readNow, isBlob, encodeForm, iteratorOf, isForm, streamOf };
