import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const { CALLED, withCalls } = require("../../src/process/bundled-libraries.js");

const LOADER = `function DataLoader(load) {
  if (typeof load !== "function") throw new TypeError("DataLoader must be constructed with a function")
  this._options = {}
  this._batchLoadFn = load
}`;
const COMPARES = "if (this._batchLoadFn === undefined) this._batchLoadFn == null;";

/** Run a text with our call, and give what it was called with. */
function run(text) {
  const calls = [];
  globalThis[CALLED] = (...given) => void calls.push(given);
  try {
    return { value: new Function(`${text}; return DataLoader`)(), calls };
  } finally {
    delete globalThis[CALLED];
  }
}

test("a constructor calls with its instance, and assigns what it did", () => {
  const { source, unhooked } = withCalls(`${LOADER}\n${COMPARES}`, "/app/bundle.js");
  assert.deepEqual(unhooked, []);
  assert.ok(source.endsWith(COMPARES));
  const { value: Loader } = run(source);
  const calls = [];
  globalThis[CALLED] = (...given) => void calls.push(given);
  const load = () => {};
  const loader = new Loader(load);
  delete globalThis[CALLED];
  assert.equal(calls.length, 1);
  assert.equal(calls[0][1], loader);
  assert.equal(loader._batchLoadFn, load);
  // In a context of node:vm nobody is called.
  assert.equal(new Loader(load)._batchLoadFn, load);
});

test("a constructor may assign any expression, and need not have semicolons", () => {
  const assigned = [
    ["async (keys) => load(keys)", "function"],
    ["load ?? {}", "function"],
    ["this._own = load", "function"],
    ["load ? 1 : 2", "number"],
    ["1, 2", "number"],
  ];
  for (const [expression, type] of assigned) {
    const text = LOADER.replace("_batchLoadFn = load", `_batchLoadFn = ${expression}`);
    const { value: Loader } = run(withCalls(text, "/app/bundle.js").source);
    assert.equal(typeof new Loader(() => {})._batchLoadFn, type, expression);
  }
  const inGenerator = LOADER.replace("function DataLoader", "function* DataLoader").replace("= load", "= yield 1");
  assert.ok(run(withCalls(inGenerator, "/app/bundle.js").source).value);
});

test("where nothing has our function, an instance is made as it would be, also without globalThis", () => {
  const { source } = withCalls(LOADER, "/app/bundle.js");
  const make = new Function("globalThis", `${source}; return new DataLoader(() => {})`);
  assert.equal(typeof make(undefined)._batchLoadFn, "function");
});

test("a text for eval is a text for eval", () => {
  const { source } = withCalls(`eval(${JSON.stringify(LOADER)})`, "/app/bundle.js");
  assert.ok(source.includes(CALLED));
  assert.equal(
    typeof run(`${source.replace("eval(", "const DataLoader = eval('(' + ").replace(/\)$/, "+ ')')")}`).value,
    "function",
  );
});

test("a text that has our calls gets no further ones, and nothing in it is named", () => {
  const queue = `"fastqueue concurrency must be equal to or greater than 1"; a.callback = b || c; d.call(e, f.value, f.worked)`;
  const { source } = withCalls(`${LOADER};${queue}`, "/app/bundle.js");
  assert.equal(source.split(CALLED).length - 1, 3);
  const again = withCalls(source, "/app/bundle.js");
  assert.deepEqual([again.source, again.unhooked], [source, []]);
});

test("a library whose places are not all there is named, and left as it is", () => {
  const text = `throw new Error("DataLoader must be constructed with a function")`;
  const { source, unhooked } = withCalls(text, "/app/bundle.js");
  assert.equal(source, text);
  assert.deepEqual(
    unhooked.map(({ name }) => name),
    ["dataloader"],
  );
});

test("p-limit is no p-queue", () => {
  const text = "throw new TypeError('Expected `concurrency` to be a number from 1 and up')";
  assert.deepEqual(withCalls(text, "/app/bundle.js"), { source: text, hooked: [], unhooked: [] });
});

test("a package is no bundle of itself", () => {
  const { source, unhooked } = withCalls(LOADER, "C:\\app\\node_modules\\dataloader\\index.js");
  assert.equal(source, LOADER);
  assert.deepEqual(unhooked, []);
});

test("neo-async is no copy of async that cannot be changed", () => {
  const queue = 'if (isNaN(n)) { throw new Error("Concurrency must not be zero"); } q._tasks.shift();';
  assert.deepEqual(
    withCalls(queue, "/app/bundle.js").unhooked.map(({ name }) => name),
    ["async"],
  );
  const neo = `${queue} async.pickLimit = pickLimit;`;
  assert.deepEqual(withCalls(neo, "/app/node_modules/neo-async/async.js"), { source: neo, hooked: [], unhooked: [] });
});

test("a short word of a library in other code is no library", () => {
  for (const text of [
    "class Bus { dispatchMessage(message) { this.consumers = message; } }",
    'const policy = "arn:aws:iam::aws:policy/AmazonSQSFullAccess"; new aws.SQSClient({});',
    'const principal = "AmazonSimpleNotificationService"; new aws.SNSClient({});',
    "chat.handleMessageReply = (reply) => show(reply);",
    "function handleSubscriberReply(mail) { return mail.returnReply; }",
    "const retries = { CLUSTER_RETRY: 3 };",
    "new Queue({ carryoverIntervalCount: true, intervalCap: 5 });",
    "driver._handleReadyForQuery();",
    `dispatchMessage();${" ".repeat(100_000)}unregisterConsumer(); handleDelivery();`,
  ]) {
    assert.deepEqual(withCalls(text, "/app/bundle.js"), { source: text, hooked: [], unhooked: [] });
  }
});

test("a library without places is found by its words, also in a text for eval", () => {
  const text = `class Command { constructor() { this.of = ["AmazonSQS", "SendMessage"]; } }${" ".repeat(100_000)}named("SQSClient");`;
  for (const source of [text, `eval(${JSON.stringify(text)})`]) {
    assert.deepEqual(
      withCalls(source, "/app/bundle.js").unhooked.map(({ name }) => name),
      ["@aws-sdk/client-sqs"],
    );
  }
});
