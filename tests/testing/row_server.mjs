/*
 * Lends the objects of trafficmock-playwright/core to the rows, which run in another process: calls and their results
 * go over standard input and output, one JSON value a line. `tests/testing/javascript.py` is the other end.
 *
 * What a predicate over a URL says is needed at once, so those are asked over a pair of pipes that block this process.
 */
import { readSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { connect } from "../../playwright/core.mjs";

const [askFd, answerFd] = process.argv.slice(2).map(Number);

/** A promise that is waited for by a later call. */
class Wait {
  constructor(promise) {
    this.promise = promise;
    // It may be rejected before somebody waits for it.
    promise.catch(() => {});
  }

  result() {
    return this.promise;
  }
}

const root = {
  connect,
  /** Begin a wait. */
  begin: (mocks, method, ...args) => new Wait(mocks[method](...args)),
};

/** The objects that are lent, by number, and how often each was given. */
const lent = new Map([[0, root]]);
const given = new Map();
const numbers = new WeakMap();
let newest = 0;
/** The functions of the other process, by number: a handler is removed by its identity. */
const functions = new Map();
/** Calls of those functions that are not answered yet. */
const calls = new Map();
let newestCall = 0;

function encode(value) {
  if (value === undefined || value === null) return null;
  if (typeof value !== "object") return value;
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") };
  if (value instanceof URL) return value.href;
  if (value instanceof Error) return { $error: described(value) };
  if (Array.isArray(value)) return value.map(encode);
  if ([Object.prototype, null].includes(Object.getPrototypeOf(value))) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, encode(each)]));
  }
  if (!numbers.has(value)) numbers.set(value, (newest += 1));
  const number = numbers.get(value);
  lent.set(number, value);
  given.set(number, (given.get(number) ?? 0) + 1);
  return { $object: number, type: value.constructor.name };
}

/** Keep an object no more than its owner does, once nobody has it any more. */
function takeBack(number, count) {
  given.set(number, given.get(number) - count);
  if (given.get(number)) return;
  given.delete(number);
  lent.delete(number);
}

function decode(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(decode);
  const [[kind, content] = []] = Object.entries(value);
  switch (kind) {
    case "$bytes":
      return Buffer.from(content, "base64");
    case "$undefined":
      return undefined;
    case "$nan":
      return NaN;
    case "$json":
      return content;
    case "$object":
      return lent.get(content);
    case "$regexp":
      return new RegExp(...content);
    case "$function":
      return functionOf(content);
    case "$pattern":
      return { pathname: "*", hostname: "*", test: functionOf(content) };
    default:
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, decode(each)]));
  }
}

/** @param {{ number: number, name: string, isAskedAtOnce: boolean }} description */
function functionOf({ number, name, isAskedAtOnce }) {
  if (!functions.has(number)) {
    const made = isAskedAtOnce ? (...args) => ask(number, args) : (...args) => call(number, args);
    functions.set(number, Object.defineProperty(made, "name", { value: name }));
  }
  return functions.get(number);
}

const described = (error) => ({
  name: error.name === "Error" ? error.constructor.name : error.name,
  message: error.message,
  code: error.code ?? null,
});

function raise({ name, message }) {
  throw Object.assign(new Error(message), { name });
}

const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

function call(number, args) {
  return new Promise((resolve, reject) => {
    const id = (newestCall += 1);
    calls.set(id, { resolve, reject });
    send({ call: number, id, args: encode(args) });
  });
}

function ask(number, args) {
  writeSync(askFd, `${JSON.stringify({ call: number, args: encode(args) })}\n`);
  const answer = [];
  const byte = Buffer.alloc(1);
  while (readSync(answerFd, byte) && byte[0] !== 10) answer.push(byte[0]);
  const { error, value } = JSON.parse(Buffer.from(answer));
  return error ? raise(error) : value;
}

async function perform({ id, target, name, args }) {
  try {
    const object = lent.get(target);
    const member = object[name];
    const value = await (typeof member === "function" ? member.apply(object, decode(args)) : member);
    send({ id, value: encode(value) });
  } catch (error) {
    send({ id, error: described(error) });
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if ("release" in message) {
    takeBack(message.release, message.count);
    continue;
  }
  if ("target" in message) {
    void perform(message);
    continue;
  }
  const { resolve, reject } = calls.get(message.id);
  calls.delete(message.id);
  if (message.error) {
    try {
      raise(message.error);
    } catch (error) {
      reject(error);
    }
  } else resolve(decode(message.value));
}
