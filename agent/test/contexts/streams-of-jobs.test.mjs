/* Streams that work off what is written, of Node and of the web. */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { Duplex, Readable, Transform, Writable } from "node:stream";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { runNode } from "../lib/child.mjs";

const require = createRequire(import.meta.url);
const { hookQueues } = require("../../src/contexts/queues.js");
const { TestContexts } = require("../../src/contexts/test-contexts.js");

const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
const written = Writable.prototype.write;
const classes = [globalThis.WritableStream, globalThis.TransformStream];
let undo;

before(() => {
  undo = hookQueues(contexts);
});

after(() => {
  undo();
  assert.equal(Writable.prototype.write, written);
  assert.deepEqual([globalThis.WritableStream, globalThis.TransformStream], classes);
});

const request = (name, act) => {
  const [req, response] = [new EventEmitter(), new EventEmitter()];
  req.headers = { baggage: `trafficmock.test=${name.repeat(32)}` };
  return contexts.enter(req, req.headers, response, act);
};
const whose = () => contexts.current()?.id[0] ?? "nobody";

/** Let four write at once, and say whose the work and the callback of each was. */
async function all(write) {
  const found = await Promise.all([..."abcd"].map((name) => request(name, () => write({ name, found: [] }))));
  return found.map((found) => found.join(""));
}

/** @returns the stream works off one object after the other */
const work = (job, _, done) => {
  job.found.push(whose());
  sleep(2).then(() => done());
};

describe("a stream of objects works off each in the context in which it was written", () => {
  const by = (stream) => (job) => new Promise((resolve) => stream.write(job, () => resolve([...job.found, whose()])));

  for (const [name, make] of [
    ["Writable", () => new Writable({ objectMode: true, write: work })],
    ["Transform", () => new Transform({ objectMode: true, transform: work }).resume()],
    [
      "a class",
      () =>
        new (class extends Writable {
          _write(...args) {
            work(...args);
          }
        })({ objectMode: true }),
    ],
  ]) {
    test(name, async () => assert.deepEqual(await all(by(make())), ["aa", "bb", "cc", "dd"]));
  }

  test("several at once in the one that all have, or in none", async () => {
    const found = [];
    const stream = new Writable({
      objectMode: true,
      write: (_, __, done) => setImmediate(done),
      writev: (jobs, done) => {
        found.push([jobs.length, whose()]);
        setImmediate(done);
      },
    });
    request("a", () => stream.write({}));
    for (const name of ["b", "b"]) request(name, () => stream.write({}));
    await new Promise((resolve) => request("b", () => stream.write({}, resolve)));
    request("a", () => stream.write({}));
    request("b", () => stream.write({}));
    await new Promise((resolve) => request("c", () => stream.end({}, resolve)));
    assert.deepEqual(found, [
      [3, "b"],
      [2, "nobody"],
    ]);
  });

  test("what was written before the hook, or with `end`, as ever, and errors are the application's own", async () => {
    const stream = new Writable({ objectMode: true, write: work });
    const jobs = [..."ab"].map((name) => ({ name, found: [] }));
    request("a", () => stream.write(jobs[0]));
    await new Promise((resolve) => request("b", () => stream.end(jobs[1], resolve)));
    assert.deepEqual(
      jobs.map(({ found }) => found.length),
      [1, 1],
    );
    assert.throws(() => new Writable({ objectMode: true }).write(null), { code: "ERR_STREAM_NULL_VALUES" });
    const broken = new Writable({ objectMode: true, write: (_, __, done) => done(new Error("broken")) });
    const [error] = await new Promise((resolve) => {
      broken.on("error", () => {});
      request("a", () => broken.write({}, (...args) => resolve(args)));
    });
    assert.equal(error.message, "broken");
  });

  test("the event of each in the context in which it was pushed", async () => {
    const stream = new Readable({ objectMode: true, read() {} });
    const found = [];
    request("a", () => stream.on("data", ({ name }) => found.push(name + whose())));
    for (const name of "abc") request(name, () => stream.push({ name }));
    await sleep(2);
    request("b", () => stream.push({ name: "b" }));
    stream.push(null);
    await once(stream, "end");
    assert.deepEqual(found, ["aa", "bb", "cc", "bb"]);
  });
});

describe("a stream of bytes works off each chunk in the context in which it was written", () => {
  /** Whose the work on a job was, and its callback, by the chunk that names it. */
  const jobs = new Map();
  const work = (chunk, _, done) => {
    jobs.get(String(chunk)).push(whose());
    sleep(2).then(() => done());
  };
  const by = (stream, method) => (job) => {
    jobs.set(job.name, job.found);
    return new Promise((resolve) => stream[method](job.name, () => resolve([...job.found, whose()])));
  };

  for (const [name, make] of [
    ["Writable", () => new Writable({ write: work })],
    ["Transform", () => new Transform({ transform: work }).resume()],
    ["Duplex", () => new Duplex({ read() {}, write: work }).resume()],
  ]) {
    test(name, async () => assert.deepEqual(await all(by(make(), "write")), ["aa", "bb", "cc", "dd"]));
  }

  test("what is written with `end`, and its callback", async () => {
    const stream = new Writable({ write: work });
    const first = request("a", () => by(stream, "write")({ name: "a", found: [] }));
    const second = request("b", () => by(stream, "end")({ name: "b", found: [] }));
    assert.deepEqual(await Promise.all([first, second]), [
      ["a", "a"],
      ["b", "b"],
    ]);
  });

  test("the callback alone where it is worked off with others, or by Node", async (t) => {
    const write = (stream) => () => new Promise((resolve) => stream.write("x", () => resolve([whose()])));
    const several = new Writable({ writev: (_, done) => setTimeout(done, 1) });
    assert.deepEqual(await all(write(several)), ["a", "b", "c", "d"]);
    const server = createServer((socket) => socket.resume()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const socket = connect(server.address().port, "127.0.0.1");
    t.after(() => (socket.destroy(), server.close()));
    assert.deepEqual(await all(write(socket)), ["a", "b", "c", "d"]);
    assert.equal(Object.hasOwn(socket, "_write"), false);
  });

  test("its events are nobody's once several tests have written, and else of who has", async () => {
    const fill = (stream, name) =>
      new Promise((resolve) =>
        request(name, () => {
          stream.write(Buffer.alloc(10));
          stream.once("drain", () => resolve(whose()));
        }),
      );
    const make = () => new Writable({ highWaterMark: 1, write: (_, __, done) => setTimeout(done, 1) });
    const stream = make();
    assert.deepEqual(await Promise.all([..."ab"].map((name) => fill(stream, name))), ["nobody", "nobody"]);
    const own = make();
    assert.deepEqual(await Promise.all([..."aa"].map((name) => fill(own, name))), ["a", "a"]);
  });

  test("what is refused, or was written before, has no part in it", async () => {
    const stream = new Writable({ write: work });
    const write = by(stream, "write");
    const given = ["a", "b"].map((name) => request(name, () => write({ name, found: [] })));
    assert.throws(() => request("c", () => stream.write(1)), { code: "ERR_INVALID_ARG_TYPE" });
    given.push(request("d", () => write({ name: "d", found: [] })));
    assert.deepEqual(
      (await Promise.all(given)).map((found) => found.join("")),
      ["aa", "bb", "dd"],
    );
  });
});

describe("a stream of the web works off each chunk in the context in which it was written", () => {
  class Sink {
    #work = "of its own";
    started = false;

    start() {
      this.started = true;
    }

    async write(job) {
      assert.deepEqual([this.#work, this.started], ["of its own", true]);
      job.found.push(whose());
      await sleep(2);
      job.resolve(job.found);
    }
  }

  const by = (writer) => (job) =>
    new Promise((resolve) => void writer.write(Object.assign(job, { resolve }))).then((found) => found);

  test("WritableStream", async () => {
    const stream = new WritableStream(new Sink(), { highWaterMark: 10 });
    assert.ok(stream instanceof WritableStream);
    assert.deepEqual(await all(by(stream.getWriter())), ["a", "b", "c", "d"]);
  });

  test("TransformStream", async () => {
    const sink = new Sink();
    const { writable } = new TransformStream({ transform: (job) => sink.write(job) }, {}, { highWaterMark: 10 });
    sink.start();
    assert.deepEqual(await all(by(writable.getWriter())), ["a", "b", "c", "d"]);
  });

  test("what comes through a pipe, as ever", async () => {
    const found = [];
    await new Blob(["text"]).stream().pipeTo(new WritableStream({ write: (chunk) => void found.push(chunk.length) }));
    assert.deepEqual(found, [4]);
  });
});

test("each stream of the web, not only the first, in a process that has used none", async () => {
  const { stdout, stderr } = await runNode(
    `
    const { hookWebStreams } = require("./src/contexts/web-streams.js");
    hookWebStreams({ now: () => "its moment", within: (moment, act) => (console.log(moment), act()) });
    for (const _ of [1, 2]) new WritableStream({ write: () => {} }).getWriter().write(1);
    console.log(WritableStream === globalThis.WritableStream, Object.keys(globalThis).includes("WritableStream"));
  `,
    { preload: "" },
  );
  assert.deepEqual(stdout.trim().split("\n").sort(), ["its moment", "its moment", "true false"], stderr);
});

describe("the package readable-stream", () => {
  // The same parts, as its versions have them: Writable marks its state, and Duplex copies its methods.
  test("is hooked in its own files", async () => {
    const { PACKAGED } = require("../../src/contexts/node-streams.js");
    const Writable = function () {
      this._writableState = { objectMode: false, length: 0 };
      this.writable = true;
    };
    const jobs = [];
    Writable.prototype.write = function (job) {
      jobs.push(() => this._write(job));
    };
    Writable.prototype.end = function () {};
    const name = "readable-stream/lib/_stream_writable";
    const moments = ["a", "b"];
    const seen = [];
    let areKnown = false;
    const bindings = {
      areKnown: () => areKnown,
      now: () => ({ context: { id: moments[0] }, name: moments.shift() }),
      bound: (value) => value,
      within: (moment, act) => (seen.push(moment.name), act()),
    };
    for (let times = 0; times < 2; times += 1) PACKAGED[name](Writable, bindings);
    const stream = new Writable();
    stream._write = (job) => seen.push(job);
    stream.write(0);
    jobs.shift()();
    // Until a context is known, a stream of bytes is left alone.
    assert.deepEqual([seen, moments], [[0], ["a", "b"]]);
    areKnown = true;
    stream.write(1);
    stream.write(2);
    for (const job of jobs) job();
    assert.deepEqual(seen, [0, "a", 1, "b", 2]);
  });
});
