import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";

const require = createRequire(import.meta.url);
const { hookQueues } = require("../../src/contexts/queues.js");
const { TestContexts } = require("../../src/contexts/test-contexts.js");

/** Modules that keep what they are given, as the libraries with these paths do. */
const MODULES = {
  "pg/lib/client.js": `
    module.exports = class {
      connect(...args) { this.args = args; }
      query(...args) { this.args = args; return this; }
      _handleNotification(message) { return message(); }
    };`,
  "pg/lib/connection.js": `
    module.exports = class { attachListeners(stream) { stream.on("data", (act) => act()).on("end", (act) => act()); } };`,
  "fastq/queue.js": `
    module.exports = (context, worker) => {
      const jobs = [];
      return {
        push: (value, done) => jobs.push([value, done]),
        unshift: (value, done) => jobs.unshift([value, done]),
        getQueue: () => jobs.map(([value]) => value),
        error: (handler) => { module.exports.handler = handler; },
        run: () => { for (const [value, done] of jobs.splice(0)) worker.call(context, value, done); },
        fail: () => module.exports.handler(new Error("as expected"), jobs[0][0]),
      };
    };
    module.exports.promise = module.exports;`,
  "async/queue.js": `
    module.exports = (worker, payload) => ({
      _tasks: { all: [], shift() { return this.all.shift(); } },
      _createTaskItem: (data, callback) => ({ data, callback }),
      push(data, callback) { this._tasks.all.push(this._createTaskItem(data, callback)); },
      run() {
        const items = Array.from({ length: payload }, () => this._tasks.shift());
        return worker(items.map((item) => item.data), () => items.forEach((item) => item.callback()));
      },
    });`,
  "dataloader/index.js": `
    module.exports = class {
      constructor(load) { this._batchLoadFn = load; this._batch = { keys: [] }; }
      load(key) { this._batch.keys.push(key); }
      run() { const { keys } = this._batch; this._batch = { keys: [] }; return this._batchLoadFn(keys); }
    };`,
  "bluebird/js/release/bluebird.js": `
    const make = () => ({ config(given) { this.given = given; }, getNewLibraryCopy: make });
    module.exports = make();`,
  "bottleneck/lib/Bottleneck.js": `
    module.exports = class {};
    module.exports.Batcher = class {
      _arr = [];
      add(item) { this._arr.push(item); if (this._arr.length === 2) this._flush(); }
      _flush() { this.batch(this._arr); this._arr = []; }
    };`,
  "semaphore/lib/semaphore.js": `
    module.exports = () => ({ waiting: [], take(n, task) { this.waiting.push(task); }, leave() { this.waiting.shift()(); } });`,
  "promise-queue/lib/index.js": `
    module.exports = class { jobs = []; add(job) { this.jobs.push(job); } run() { return this.jobs.shift()(); } };`,
  "promise-throttle/lib/main.js": `
    module.exports = class { jobs = []; add(job) { this.jobs.push(job); } run() { return this.jobs.shift()(); } };`,
  "async/memoize.js": `
    module.exports = (act) => {
      const waiting = [];
      return Object.assign((key, done) => { if (waiting.push(done) === 2) waiting.forEach((each) => each(key)); }, { act });
    };`,
  "@nats-io/transport-node/lib/connect.js": "exports.connect = (act) => act();",
  "graphile-worker/dist/runner.js": "exports.run = (act) => act();",
  "ioredis/built/DataHandler.js": "exports.default = class { handleSubscriberReply(reply) { return reply(); } };",
};

const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
const made = new Map(["a", "b", "c"].map((id) => [id, { id, isForwarded: true, closedAt: undefined }]));
const under = (id, act) => contexts.storage.run(made.get(id), act);
const current = () => contexts.current()?.id;
let place, undo;

before(() => {
  place = mkdtempSync(join(tmpdir(), "queues-"));
  for (const [name, text] of Object.entries(MODULES)) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), text);
  }
  undo = hookQueues(contexts);
});
after(() => {
  undo();
  rmSync(place, { recursive: true });
});

const load = (name) => require(join(place, name));

test("a callback that waits has the context of whoever gave it, with its arguments and this", () => {
  const client = new (load("pg/lib/client.js"))();
  const said = [];
  const ask = () =>
    client.query("select", [1], function (...args) {
      said.push(current(), this, args);
      return "returned";
    });
  assert.equal(under("a", ask), client);
  assert.deepEqual(client.args.slice(0, 2), ["select", [1]]);
  assert.equal(
    under("b", () => client.args[2].call("self", 1, 2)),
    "returned",
  );
  assert.deepEqual(said, ["a", "self", [1, 2]]);
  ask();
  under("b", () => client.args[2]());
  assert.equal(said[3], undefined);
});

test("a worker of fastq has the context of the job, and its value", () => {
  const fastq = load("fastq/queue.js");
  for (const make of [fastq, fastq.promise]) {
    const said = [];
    const queue = make("self", function (value, done) {
      said.push([value, current(), String(this)]);
      done();
    });
    const done = () => said.push(current());
    under("a", () => queue.push(1, done));
    under("b", () => queue.unshift(2, done));
    queue.push(3, done);
    assert.deepEqual(queue.getQueue(), [2, 1, 3]);
    queue.error((error, value) => said.push([error.message, value]));
    queue.fail();
    under("c", () => queue.run());
    assert.deepEqual(said, [
      ["as expected", 2],
      [2, "b", "self"],
      "b",
      [1, "a", "self"],
      "a",
      [3, undefined, "self"],
      undefined,
    ]);
  }
});

test("a worker of async has the context of its items, and none where they have several", async () => {
  const said = [];
  const queue = load("async/queue.js")((data, done) => {
    said.push([...data, current()]);
    done();
  }, 2);
  const push = (id, data) => under(id, () => queue.push(data, () => said.push(current())));
  push("a", 1);
  push("a", 2);
  push("a", 3);
  push("b", 4);
  under("c", () => queue.run());
  under("c", () => queue.run());
  assert.deepEqual(said, [[1, 2, "a"], "a", "a", [3, 4, undefined], "a", "b"]);
  const asynchronous = load("async/queue.js")(async () => current(), 1);
  under("a", () => asynchronous.push(1));
  assert.equal(await asynchronous.run(), "a");
});

test("a batch has the context of its keys, and none where they have several", () => {
  const Loader = load("dataloader/index.js");
  const loader = new Loader((keys) => [...keys, current()]);
  const ask = (id, key) => under(id, () => loader.load(key));
  ask("a", 1);
  ask("a", 2);
  assert.deepEqual(
    under("b", () => loader.run()),
    [1, 2, "a"],
  );
  ask("a", 3);
  ask("b", 4);
  assert.deepEqual(
    under("b", () => loader.run()),
    [3, 4, undefined],
  );
});

test("what comes over a connection to PostgreSQL has no context, and its other events have", () => {
  const stream = new EventEmitter();
  const { on } = stream;
  under("a", () => new (load("pg/lib/connection.js"))().attachListeners(stream));
  const said = [];
  for (const event of ["data", "end"]) under("b", () => stream.emit(event, () => said.push(current())));
  assert.deepEqual(said, [undefined, "b"]);
  assert.equal(stream.on, on);
});

test("a message that a subscription gets has no context", () => {
  const client = new (load("pg/lib/client.js"))();
  assert.equal(
    under("a", () => client._handleNotification(current)),
    undefined,
  );
  const handler = new (load("ioredis/built/DataHandler.js").default)();
  assert.equal(
    under("a", () => handler.handleSubscriberReply(current)),
    undefined,
  );
});

test("a batch of bottleneck has the context of its items, and none where they have several", () => {
  const Bottleneck = require(join(place, "bottleneck/lib/Bottleneck.js"));
  const seen = [];
  const batcher = Object.assign(new Bottleneck.Batcher(), { batch: (items) => seen.push([...items, current()]) });
  for (const id of ["a", "a", "b", "c"]) under(id, () => batcher.add(id));
  assert.deepEqual(seen, [
    ["a", "a", "a"],
    ["b", "c", undefined],
  ]);
});

test("a job that waits for its turn has the context of whoever gave it", () => {
  for (const name of ["promise-queue/lib/index", "promise-throttle/lib/main"]) {
    const queue = new (require(join(place, `${name}.js`)))();
    under("a", () => queue.add(current));
    assert.equal(
      under("b", () => queue.run()),
      "a",
      name,
    );
  }
  const semaphore = require(join(place, "semaphore/lib/semaphore.js"))(1);
  let seen;
  under("a", () => semaphore.take(1, () => (seen = current())));
  under("b", () => semaphore.leave());
  assert.equal(seen, "a");
});

test("each callback of a memoized function has its own context", () => {
  const memoized = require(join(place, "async/memoize.js"))("act");
  const seen = [];
  for (const id of ["a", "b"]) under(id, () => memoized("key", (key) => seen.push([key, current()])));
  assert.deepEqual(seen, [
    ["key", "a"],
    ["key", "b"],
  ]);
  assert.equal(memoized.act, "act");
});

test("Bluebird carries contexts itself, and so does each copy of it", () => {
  const bluebird = require(join(place, "bluebird/js/release/bluebird.js"));
  const copy = bluebird.getNewLibraryCopy();
  for (const each of [bluebird, copy, copy.getNewLibraryCopy()]) assert.deepEqual(each.given, { asyncHooks: true });
});

test("what a request connects or runs for all has no context", () => {
  const { connect } = require(join(place, "@nats-io/transport-node/lib/connect.js"));
  const { run } = require(join(place, "graphile-worker/dist/runner.js"));
  for (const begin of [connect, run]) {
    assert.equal(
      under("a", () => begin(current)),
      undefined,
    );
  }
});
