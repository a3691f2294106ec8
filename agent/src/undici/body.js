"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { types } = require("node:util");
const { Readable } = require("node:stream");
const { BodyCopy } = require("../exchange/body-copy.js");

/** Node's own clock, kept because tests of applications replace it. */
const { now } = Date;

/** The limits of reading a body before the request is announced; bytes, ms. */
const BODY_BYTES = 64 * 1024 * 1024;
const BODY_MS = 5000;

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
 * Read a whole body, for a proxy that must have it with the request, or of a kind that is not streamed.
 * @param {any} body a stream, an iterable, a Blob or a form
 * @returns {Promise<Held>}
 * @throws the error of the body
 */
async function readAll(body) {
  if (isForm(body)) return readForm(body);
  if (typeof body.arrayBuffer === "function" && typeof body.stream === "function") {
    return { bytes: Buffer.from(await body.arrayBuffer()), truncated: false, body };
  }
  const copy = new BodyCopy(BODY_BYTES);
  /** @type {Uint8Array[]} */
  const chunks = [];
  const source = iteratorOf(body);
  const deadline = now() + BODY_MS;
  /** @type {Promise<IteratorResult<any>> | undefined} */
  let pending;
  for (;;) {
    pending = Promise.resolve(source.next());
    const step = await within(pending, deadline - now());
    if (!step) break;
    if (step.done) {
      return {
        bytes: copy.bytes(),
        truncated: false,
        body: Readable.prototype.isPrototypeOf(body) ? streamOf(chunks, body) : again(chunks),
      };
    }
    const chunk = typeof step.value === "string" ? Buffer.from(step.value) : step.value;
    chunks.push(chunk);
    copy.push(chunk);
    pending = undefined;
    if (copy.isCut) break;
  }
  return { bytes: null, truncated: true, body: again(chunks, pending, source) };
}

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
 * @param {any} form
 * @returns {Promise<Held>}
 */
async function readForm(form) {
  const { body, contentType, size } = await encodeForm(form);
  const bytes = Buffer.from(await new Response(body).arrayBuffer());
  return { bytes, truncated: false, body: bytes, contentType, size };
}

/**
 * @param {any} form a `FormData` of any copy of undici
 * @returns {Promise<{ body: any, contentType: string | undefined, size: number | undefined }>} the encoded form; its files are read while `body` is read
 */
async function encodeForm(form) {
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
 * @template T
 * @param {Promise<T>} promise
 * @param {number} ms
 * @returns {Promise<T | undefined>} `undefined` if it takes longer
 */
function within(promise, ms) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, Math.max(ms, 0), undefined);
  });
  return /** @type {Promise<any>} */ (Promise.race([promise, late])).finally(() => clearTimeout(timer));
}

/**
 * Yield a body that was read in part: the chunks, then the rest.
 * @param {Uint8Array[]} chunks that were read
 * @param {Promise<IteratorResult<any>>} [pending] the unfinished read
 * @param {any} [source] the iterator of the rest
 */
async function* again(chunks, pending, source) {
  yield* chunks;
  if (pending) {
    const step = await pending;
    if (step.done) return;
    yield step.value;
  }
  if (!source) return;
  for (;;) {
    const step = await source.next();
    if (step.done) return;
    yield step.value;
  }
}

module.exports = { readNow, readAll, encodeForm, iteratorOf, isForm, streamOf };
