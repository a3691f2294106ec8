import http from "node:http";
import { Readable } from "node:stream";
import axios from "axios";
import got from "got";
import nodeFetch from "node-fetch";

/** A promise, and what settles it. */
export function deferred() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

/**
 * A server that a test leads by the hand: each request is handed to the test
 * when its head is there, by path.
 */
export async function startStage() {
  const waiting = new Map();
  const gate = (path) => {
    if (!waiting.has(path)) waiting.set(path, deferred());
    return waiting.get(path);
  };
  const server = http.createServer((req, res) => gate(req.url).resolve({ req, res }));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** @returns {Promise<{ req: http.IncomingMessage, res: http.ServerResponse }>} */
    request: (path) => gate(path).promise,
    saw: (path) => waiting.has(path),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  };
}

/** Source of a body that a test writes bit by bit. */
export function source() {
  const queue = [];
  let wake = deferred();
  const put = (item) => {
    queue.push(item);
    wake.resolve();
  };
  async function* chunks() {
    for (;;) {
      while (queue.length) {
        const item = queue.shift();
        if (item === null) return;
        if (item instanceof Error) throw item;
        yield Buffer.from(item);
      }
      await wake.promise;
      wake = deferred();
    }
  }
  return { write: put, end: () => put(null), fail: (error) => put(error), chunks };
}

const upload = (chunks) => Readable.from(chunks);

/** A `fetch`, as one of {@link streamingClients}. */
export const clientOfFetch = (fetch) => ({
  call: async (url, { method = "GET", body, signal, ...more } = {}) => {
    const response = await fetch(url, {
      ...more,
      method,
      signal,
      ...(body && { body: Readable.toWeb(upload(body)), duplex: "half" }),
    });
    const chunks = response.body[Symbol.asyncIterator]();
    return { status: response.status, chunks, close: () => chunks.return() };
  },
});

/** An undici's `request`, as one of {@link streamingClients}. */
export const clientOfRequest = (undici, bodyOf = upload) => ({
  call: async (url, { method = "GET", body, signal, ...more } = {}) => {
    const { statusCode, body: stream } = await undici.request(url, {
      ...more,
      method,
      signal,
      body: body && bodyOf(body),
    });
    return { status: statusCode, chunks: stream[Symbol.asyncIterator](), close: () => stream.destroy() };
  },
});

/**
 * The same few calls for each client library.
 *
 * @typedef {{ status: number, chunks: AsyncIterator<Buffer> }} Answer
 */
export async function streamingClients() {
  const undici = await import("undici7");
  return {
    "node:http": {
      call: (url, { method = "GET", body, signal } = {}) =>
        new Promise((resolve, reject) => {
          const req = http.request(url, { method, signal }, (res) =>
            resolve({ status: res.statusCode, chunks: res[Symbol.asyncIterator](), close: () => res.destroy() }),
          );
          req.on("error", reject);
          if (body) {
            upload(body)
              .on("error", (error) => req.destroy(error))
              .pipe(req);
          } else req.end();
        }),
    },
    fetch: clientOfFetch((...args) => fetch(...args)),
    "undici request": clientOfRequest(undici),
    got: {
      call: (url, { method = "GET", body, signal } = {}) =>
        new Promise((resolve, reject) => {
          const stream = got.stream(url, { method, signal, retry: { limit: 0 }, throwHttpErrors: false });
          stream.on("response", (res) =>
            resolve({ status: res.statusCode, chunks: stream[Symbol.asyncIterator](), close: () => stream.destroy() }),
          );
          stream.on("error", (error) => reject(signal?.aborted ? signal.reason : error));
          if (body) upload(body).pipe(stream);
        }),
    },
    axios: {
      call: async (url, { method = "GET", body, signal } = {}) => {
        const { status, data } = await axios({
          url,
          method,
          signal,
          data: body && upload(body),
          responseType: "stream",
          maxRedirects: 0,
        }).catch((error) => {
          throw signal?.aborted ? signal.reason : error;
        });
        return { status, chunks: data[Symbol.asyncIterator](), close: () => data.destroy() };
      },
    },
    "node-fetch": {
      call: async (url, { method = "GET", body, signal } = {}) => {
        const response = await nodeFetch(url, { method, signal, body: body && upload(body) });
        return {
          status: response.status,
          chunks: response.body[Symbol.asyncIterator](),
          close: () => response.body.destroy(),
        };
      },
    },
    "undici iterable": clientOfRequest(undici, (body) => body),
  };
}

/** @param {AsyncIterator<Uint8Array>} chunks */
export async function next(chunks) {
  const { value } = await chunks.next();
  return Buffer.from(value).toString();
}

/** Read the rest. */
export async function rest(chunks) {
  const all = [];
  for (;;) {
    const { done, value } = await chunks.next();
    if (done) return Buffer.concat(all);
    all.push(Buffer.from(value));
  }
}
