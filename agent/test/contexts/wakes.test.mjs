/* Work that another test's request wakes, once its own request is over. */
import assert from "node:assert/strict";
import { EventEmitter, on } from "node:events";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

const require = createRequire(import.meta.url);
const { TestContexts } = require("../../src/contexts/test-contexts.js");

describe("work that other requests wake", () => {
  const start = (t) => {
    const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
    t.after(contexts.hookServers());
    /** Begin a request of a test, and return what ends it. */
    const request = (name, act) => {
      const [req, socket] = [new EventEmitter(), new EventEmitter()];
      req.headers = { baggage: `trafficmock.test=${name.repeat(32)}` };
      const given = contexts.enter(req, req.headers, socket, act);
      return { given, end: () => socket.emit("close") };
    };
    /** The test of a request that is sent now. */
    const whose = () => (contexts.current()?.isPast ? "nobody" : (contexts.current()?.id[0] ?? "nobody"));
    return { contexts, request, whose };
  };

  /** A loop that waits to be woken, and notes whose its jobs are. */
  const loopOf = (whose) => {
    const [jobs, found] = [[], []];
    let wake;
    const run = async () => {
      for (;;) {
        while (jobs.length > 0) {
          const done = jobs.shift();
          await null;
          found.push(whose());
          done();
        }
        await new Promise((resolve) => {
          wake = resolve;
        });
      }
    };
    const give = () =>
      new Promise((resolve) => {
        jobs.push(resolve);
        wake?.();
      });
    return { run, give, found };
  };

  test("is nobody's: a loop of the first request", async (t) => {
    const { request, whose } = start(t);
    const { run, give, found } = loopOf(whose);
    const first = request("a", () => (void run(), give()));
    await first.given;
    first.end();
    for (const name of ["b", "a", "c"]) {
      const { given, end } = request(name, give);
      await given;
      end();
    }
    assert.deepEqual(found, ["a", "nobody", "nobody", "nobody"]);
  });

  test("is its own test's where only that one wakes it", async (t) => {
    const { request, whose } = start(t);
    const { run, give, found } = loopOf(whose);
    request("b", () => undefined);
    const first = request("a", () => (void run(), give()));
    await first.given;
    first.end();
    await request("a", give).given;
    assert.deepEqual(found, ["a", "a"]);
  });

  test("is nobody's: a loop over the events of an emitter", async (t) => {
    const { request, whose } = start(t);
    const bus = new EventEmitter();
    const found = [];
    const first = request("a", async () => {
      for await (const [done] of on(bus, "job")) {
        found.push(whose());
        done();
      }
    });
    const give = () => new Promise((resolve) => bus.emit("job", resolve));
    await request("a", give).given;
    first.end();
    await request("b", give).given;
    assert.deepEqual(found, ["a", "nobody"]);
  });

  test("is nobody's: a queue that one request works off for all, from the second job of another on", async (t) => {
    const { request, whose } = start(t);
    const [jobs, found] = [[], []];
    let isBusy = false;
    const add = async () =>
      new Promise((resolve) => {
        jobs.push(resolve);
        if (!isBusy) void work();
      });
    const work = async () => {
      isBusy = true;
      while (jobs.length > 0) {
        const done = jobs.shift();
        found.push(whose());
        await sleep(5);
        done();
      }
      isBusy = false;
    };
    const all = [..."abcd"].map((name) => request(name, add));
    await Promise.all(all.map(({ given, end }) => given.then(end)));
    assert.deepEqual(found, ["a", "a", "nobody", "nobody"]);
  });

  test("keeps its test while it waits for a place in a pool, before the response and after it", async (t) => {
    const { request, whose } = start(t);
    const found = [];
    for (const isLate of [false, true]) {
      let free = Promise.resolve();
      const use = async () => {
        const before = free;
        let release;
        free = new Promise((resolve) => {
          release = resolve;
        });
        await before;
        await sleep(2);
        found.push(whose());
        release();
      };
      const all = [..."abc"].map((name) => request(name, use));
      if (isLate) for (const { end } of all) end();
      await Promise.all(all.map(({ given }) => given));
    }
    assert.deepEqual(found, [..."abcabc"]);
  });

  test("keeps its test after the response, whatever else runs", async (t) => {
    const { request, whose } = start(t);
    request("b", () => undefined);
    const { given, end } = request("a", async () => {
      await sleep(2);
      await Promise.all([sleep(1), Promise.resolve(1)]);
      return whose();
    });
    end();
    request("c", () => undefined).end();
    assert.equal(await given, "a");
  });

  test("says that other requests woke it", async (t) => {
    const { contexts, request } = start(t);
    const loop = loopOf(() => contexts.originOf(contexts.current(), request)?.toWire().kind);
    const first = request("a", () => (void loop.run(), loop.give()));
    await first.given;
    first.end();
    await request("b", loop.give).given;
    assert.deepEqual(loop.found, [undefined, "woken"]);
  });

  test("is watched from the first context on, and changes no promise that the application can see", async (t) => {
    const { contexts, request } = start(t);
    assert.equal(contexts.wakes.undo, undefined);
    const { given } = request("a", () => Promise.resolve(1));
    assert.notEqual(contexts.wakes.undo, undefined);
    const ofNode = /async_id_symbol|kResourceStore/;
    assert.deepEqual(
      Reflect.ownKeys(given).filter((key) => !ofNode.test(String(key))),
      [],
    );
  });
});
