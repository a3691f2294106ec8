/* Work that another test's request wakes, once its own request is over. */
import assert from "node:assert/strict";
import { EventEmitter, on } from "node:events";
import { ServerResponse } from "node:http";
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

  test("is its own test's where no other one is known", async (t) => {
    const { request, whose } = start(t);
    const { run, give, found } = loopOf(whose);
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

  test("is nobody's: a queue that one request works off for all, from the job of another one on", async (t) => {
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
    assert.deepEqual(found, ["a", "nobody", "nobody", "nobody"]);
  });

  /** Queues of one place, made by hand, which run empty and start again: how each goes on after a job. */
  const QUEUES = {
    "a loop": (jobs) => async () => {
      while (jobs.length > 0) {
        const { act, resolve } = jobs.shift();
        resolve(await act());
      }
    },
    "a function for each job": (jobs) => async () => {
      const work = async ({ act, resolve }) => resolve(await act());
      while (jobs.length > 0) await work(jobs.shift());
    },
    "a callback for each job": (jobs) => async () => {
      while (jobs.length > 0) {
        const { act, resolve } = jobs.shift();
        await act().then(resolve);
      }
    },
    "a callback after each job": (jobs) => () => {
      const next = () => {
        const job = jobs.shift();
        return job?.act().then(job.resolve).finally(next);
      };
      return Promise.resolve(next());
    },
    "callbacks alone": (jobs) => () =>
      new Promise((end) => {
        const next = () => {
          const { act, resolve } = jobs.shift() ?? {};
          if (!act) return end();
          return void act().then((value) => {
            resolve(value);
            next();
          });
        };
        next();
      }),
  };

  for (const [name, make] of Object.entries(QUEUES)) {
    test(`has never another test's context in a queue made by hand: ${name}`, async (t) => {
      const { request, whose } = start(t);
      const jobs = [];
      const run = make(jobs);
      let running;
      const add = (act) =>
        new Promise((resolve) => {
          jobs.push({ act, resolve });
          running ??= run().then(() => {
            running = undefined;
          });
        });
      const found = [];
      const one = async (own) => {
        const act = async () => {
          found.push([own, whose()]);
          await sleep(1);
        };
        const { given, end } = request(own, () => add(act).then(() => whose()));
        // What waits for the job has the context that it had.
        assert.equal(await given, own);
        end();
      };
      for (let round = 0; round < 3; round += 1) {
        await Promise.all([..."abcd"].map(one));
        await running;
      }
      assert.equal(found.length, 12);
      assert.deepEqual(
        found.filter(([own, has]) => has !== own && has !== "nobody"),
        [],
      );
      assert.ok(found.some(([own, has]) => has === own));
    });
  }

  test("has another test's context once where responses are ended by callbacks, and none from then on", async (t) => {
    const { contexts, whose } = start(t);
    const [jobs, found] = [[], []];
    let isBusy = false;
    const next = () => {
      const job = jobs.shift();
      isBusy = job !== undefined;
      if (!job) return;
      found.push([job.own, whose()]);
      setTimeout(() => (job.end(), next()), 1);
    };
    const one = (own) =>
      new Promise((resolve) => {
        const req = new EventEmitter();
        const response = new ServerResponse({ method: "GET", httpVersionMajor: 1, httpVersionMinor: 1 });
        req.headers = { baggage: `trafficmock.test=${own.repeat(32)}` };
        const end = () => {
          response.emit("prefinish");
          setImmediate(() => (response.emit("close"), resolve()));
        };
        contexts.enter(req, req.headers, response, () => {
          jobs.push({ own, end });
          if (!isBusy) next();
        });
      });
    for (let round = 0; round < 3; round += 1) await Promise.all([..."abcd"].map(one));
    const others = found.filter(([own, has]) => has !== own && has !== "nobody");
    assert.deepEqual(others, [["b", "a"]]);
  });

  test("keeps its test after it has settled what it waits for itself", async (t) => {
    const { request, whose } = start(t);
    request("b", () => undefined);
    const bus = new EventEmitter();
    const { given } = request("a", async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      setTimeout(() => bus.emit("ready"), 1);
      await Promise.all([1, 2].map(() => new Promise((resolve) => bus.once("ready", resolve))));
      const helper = async () => sleep(1).then(() => Promise.resolve(1));
      await helper();
      await Promise.all([helper(), helper()]);
      return whose();
    });
    assert.equal(await given, "a");
  });

  test("says that it had handed over a result", async (t) => {
    const { contexts, request } = start(t);
    request("b", () => undefined);
    const { given } = request("a", async () => {
      let settle;
      const result = new Promise((resolve) => {
        settle = resolve;
      });
      const work = sleep(1).then(() => {
        settle();
        return contexts.originOf(contexts.current(), request).toWire().kind;
      });
      await result;
      assert.equal(contexts.current().isPast, undefined);
      return work;
    });
    assert.equal(await given, "handed-over");
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
    request("a", () => void loop.run()).end();
    await request("b", loop.give).given;
    assert.deepEqual(loop.found, ["woken"]);
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
