import { openSync, readSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The server under the names that it has here. */
export const HTTP = "http://shop.test";
export const HTTPS = "https://api.shop.test";

/** Where `events.cjs` keeps what the application heard of its requests. */
const EVENTS = Symbol.for("bench.events");
/** A call that takes longer hangs. */
const HANG_MS = 4000;
/** Descriptors, or the names of the pipes where a tool stands between the bench and the program. */
const [TO, FROM] = (process.env.BENCH_FDS ?? "1,0")
  .split(",")
  .map((each, at) => (/^\d+$/.test(each) ? Number(each) : openSync(each, at ? "r" : "w")));

/**
 * Make calls one after another, and tell the bench what came of each.
 *
 * @param {Record<string, () => Promise<unknown>>} calls each gives what the application would see,
 *   or fails as the library does
 * @param {{ only?: RegExp }} [options]
 */
export async function run(calls) {
  const only = process.env.BENCH_ONLY && new RegExp(process.env.BENCH_ONLY);
  for (const [name, call] of Object.entries(calls)) {
    if (only && !only.test(name)) continue;
    tell({ begin: name });
    const came = await outcome(call);
    tell({ end: name, ...came, events: (await globalThis[EVENTS]?.take()) ?? [] });
  }
  tell({ done: true });
}

/** Say a line, and wait until the bench has read it: blocking, so that no timer or socket of ours is in the process. */
function tell(message) {
  writeSync(TO, `${JSON.stringify(message)}\n`);
  readSync(FROM, Buffer.alloc(1));
}

async function outcome(call) {
  let timer;
  const hang = new Promise((resolve) => {
    timer = setTimeout(() => resolve({ hangs: true }), HANG_MS);
  });
  try {
    return await Promise.race([settled(call), hang]);
  } finally {
    clearTimeout(timer);
  }
}

const settled = async (call) => {
  try {
    return { result: plain(await call()) };
  } catch (error) {
    return { error: described(error) };
  }
};

/** What JSON can say of a value: bytes as text, errors as {@link described}. */
function plain(value) {
  if (value instanceof Error) return described(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString("latin1");
  if (value instanceof Map || value instanceof Headers) return [...value];
  if (Array.isArray(value)) return value.map(plain);
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
  }
  return value;
}

/** What an application may look at in an error. */
export function described(error) {
  if (!(error instanceof Error)) return { thrown: String(error) };
  const seen = { name: error.name, message: error.message };
  for (const key of ["code", "errno", "syscall", "type", "status", "statusCode", "statusText", "hostname", "timeout"]) {
    if (["string", "number", "boolean"].includes(typeof error[key])) seen[key] = error[key];
  }
  if (error.cause instanceof Error) seen.cause = described(error.cause);
  if (Array.isArray(error.errors)) seen.errors = error.errors.map(described);
  return seen;
}

/** Read a stream to its end, as text. */
export async function text(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("latin1");
}

/** Wait for an event. */
export const once = (emitter, name) =>
  new Promise((resolve, reject) => {
    emitter.once(name, resolve);
    if (name !== "error") emitter.once("error", reject);
  });

/** Pieces of a body, one per turn of the event loop. */
export async function* pieces(...texts) {
  for (const each of texts) {
    await new Promise((resolve) => setImmediate(resolve));
    yield Buffer.from(each);
  }
}

export const here = (url) => fileURLToPath(url);
