import { deferred } from "./streams.mjs";

/** The features of a worker that writes streams. */
export const STREAM_FEATURES = { features: ["chain", "stream-mocks"] };

const HEAD = { status: 200, statusText: "", headers: { "content-type": "text/event-stream" }, bodyBase64: null };

/**
 * Answer the requests of a path by a stream, which the test writes.
 * @param {Awaited<ReturnType<typeof import('./worker.mjs').startWorker>>} worker with `STREAM_FEATURES`
 * @param {string} path
 * @param {object} [head] of the answer, besides status 200
 */
export async function mockStream(worker, path, head) {
  const begun = deferred();
  await worker.routeGlob(`**${path}`, ({ requestId, result }) => {
    result({ action: "fulfill", response: { ...HEAD, ...head }, stream: true });
    begun.resolve(requestId);
  });
  return writer(worker, begun.promise);
}

/**
 * Answer every request of a path by a stream.
 * @param {Parameters<typeof mockStream>[0]} worker
 * @param {string} path a glob
 * @param {(stream: ReturnType<typeof writer>, url: string) => Promise<void>} write
 */
export async function mockStreams(worker, path, write) {
  await worker.routeGlob(`**${path}`, (call) => void write(beginStream(worker, call), call.request.url));
}

/**
 * Begin the answer in a handler.
 * @param {Parameters<typeof mockStream>[0]} worker
 * @param {any} call of the handler
 */
export function beginStream(worker, { requestId, result }) {
  result({ action: "fulfill", response: HEAD, stream: true });
  return writer(worker, Promise.resolve(requestId));
}

/**
 * @param {Parameters<typeof mockStream>[0]} worker
 * @param {Promise<string>} begun the id of the request, once its answer has begun
 */
function writer(worker, begun) {
  let seq = 0;
  const say = async (type, more) => {
    const requestId = await begun;
    worker.send({ type, requestId, seq: ++seq, ...more });
    return seq;
  };
  const acknowledged = async (of) => {
    const requestId = await begun;
    await worker.waitFor("stream:ack", (message) => message.requestId === requestId && message.seq >= of);
  };
  const write = (data) => say("stream:data", { body: Buffer.from(data).toString("base64") });
  return {
    /** Send a piece; returns its number. */
    write,
    acknowledged,
    /** Send a piece, and wait until the application has it. */
    send: async (data) => acknowledged(await write(data)),
    end: async () => acknowledged(await say("stream:end")),
    abort: async (errorCode) => acknowledged(await say("stream:abort", { errorCode })),
    closed: async () => {
      const requestId = await begun;
      return worker.waitFor("stream:closed", (message) => message.requestId === requestId);
    },
    /** The numbers that were acknowledged. */
    told: async () => {
      const requestId = await begun;
      return worker.seen
        .filter(({ type, requestId: id }) => type === "stream:ack" && id === requestId)
        .map(({ seq }) => seq);
    },
  };
}
