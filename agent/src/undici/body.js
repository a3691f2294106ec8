"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { types } = require("node:util");
const { Readable } = require("node:stream");
const { BodyCopy } = require("../exchange/body-copy.js");

/** Kept, since tests replace the global one by a clock of their own. */
const { now } = Date;

/** How much of a request's body is awaited before the proxy is asked; bytes, ms. */
const BODY_BYTES = 64 * 1024 * 1024;
const BODY_MS = 5000;

/**
 * A request's body, read for the announcement, and in a form that can be sent.
 *
 * @typedef {object} Held
 * @property {Buffer | null} bytes
 * @property {boolean} truncated whether there is more than `bytes`
 * @property {any} body for undici, of the kind it was: so that length and framing stay
 * @property {string} [contentType] that a form brings with it
 * @property {number} [size] of a form; bytes
 */

/**
 * Read a body that is at hand without waiting.
 * @param {any} body as undici's `opts.body`
 * @returns {Held | undefined} nothing when it must be waited for
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
 * Read a body for a proxy that must have it with its request, or one that is read whole anyway.
 * @param {any} body a stream, an iterable, a Blob or a form
 * @returns {Promise<Held>}
 * @throws what the body itself fails with
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
 * A stream in place of one that was read to its end. undici sends the length of
 * a stream of bytes that has ended, and cannot tell that of others.
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

/** @param {any} body */
const isForm = (body) => body?.[Symbol.toStringTag] === "FormData" && typeof body.append === "function";

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
 * @param {any} form of any copy of undici
 * @returns {Promise<{ body: any, contentType: string | undefined, size: number | undefined }>} as it is sent; a file in it is read as `body` is
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
  // Both are as long but for the files, as long as their boundaries are.
  const isKnown = contentType?.length === other?.length;
  return { body: encoded.body, contentType, size: isKnown ? size + (await rest.arrayBuffer()).byteLength : undefined };
}

/** @param {any} body */
function iteratorOf(body) {
  if (body[Symbol.asyncIterator]) return body[Symbol.asyncIterator]();
  if (body[Symbol.iterator]) return body[Symbol.iterator]();
  // An old kind of stream, with events only.
  return new Readable({ objectMode: true }).wrap(body)[Symbol.asyncIterator]();
}

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {number} ms
 * @returns {Promise<T | undefined>} nothing when it takes longer
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
 * @param {Uint8Array[]} chunks that were read
 * @param {Promise<IteratorResult<any>>} [pending] the read under way
 * @param {any} [source] of the rest
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
