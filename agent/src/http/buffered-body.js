"use strict";

/**
 * Read the part of a request's body that was written before the request got a socket. Its hook may come so late where
 * a class opens connections of its own.
 * @param {any} req a `ClientRequest`
 * @returns {Buffer} without the framing of chunks
 */
function bufferedBody(req) {
  const head = req._header;
  if (!head) return Buffer.alloc(0);
  const [first, ...rest] = req.outputData;
  if (typeof first?.data !== "string" || !first.data.startsWith(head)) return Buffer.alloc(0);
  const written = [{ ...first, data: first.data.slice(head.length) }, ...rest];
  const bytes = Buffer.concat(
    written.map(({ data, encoding }) => (typeof data === "string" ? Buffer.from(data, encoding) : data)),
  );
  return req.chunkedEncoding ? Buffer.concat([...chunksOf(bytes)]) : bytes;
}

/** @param {Buffer} bytes of a chunked body, as Node writes it */
function* chunksOf(bytes) {
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    const size = end < 0 ? 0 : parseInt(bytes.toString("latin1", at, end), 16);
    if (!size) return;
    yield bytes.subarray(end + 2, end + 2 + size);
    at = end + 2 + size + 2;
  }
}

module.exports = { bufferedBody };
