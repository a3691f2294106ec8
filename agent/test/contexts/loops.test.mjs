/* Work that goes on after its request, and for whose jobs nobody waits. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { MessageChannel } from "node:worker_threads";

const require = createRequire(import.meta.url);
const { TestContexts } = require("../../src/contexts/test-contexts.js");

describe("work that comes back to the same place", () => {
  const start = (t) => {
    const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
    t.after(contexts.hookServers());
    const found = [];
    /** Handle a request of a test, and answer it at once unless the handler does. */
    const request = (name, handle) => {
      const [req, response] = [new EventEmitter(), new EventEmitter()];
      req.headers = { baggage: `trafficmock.test=${name.repeat(32)}` };
      const end = () => ["prefinish", "close"].forEach((event) => response.emit(event));
      return contexts.enter(req, req.headers, response, () => {
        const given = handle(end);
        if (handle.length === 0) end();
        return given;
      });
    };
    /** Send a request, and note whose it is. */
    const send = async () => {
      contexts.loops.sends(send);
      const context = contexts.current();
      found.push(context?.isPast ? "nobody" : (context?.id[0] ?? "nobody"));
      await sleep(2);
    };
    const until = async (count) => {
      while (found.length < count) await sleep(1);
      return found;
    };
    return { contexts, request, send, found, until };
  };

  /** What works off what is pushed, which the first request makes: each returns how to push. */
  const KINDS = {
    "a loop over an array": (work) => {
      const jobs = [];
      let isBusy = false;
      const drain = async () => {
        isBusy = true;
        while (jobs.length > 0) await work(jobs.shift());
        isBusy = false;
      };
      return (job) => {
        jobs.push(job);
        if (!isBusy) void drain();
      };
    },
    "a callback after each job": (work) => {
      const jobs = [];
      let isBusy = false;
      const next = () => {
        const job = jobs.shift();
        isBusy = job !== undefined;
        if (isBusy) void work(job).then(next);
      };
      return (job) => {
        jobs.push(job);
        if (!isBusy) next();
      };
    },
    "jobs that are functions": (work) => {
      const jobs = [];
      let isBusy = false;
      const drain = async () => {
        isBusy = true;
        while (jobs.length > 0) await jobs.shift()();
        isBusy = false;
      };
      return (job) => {
        jobs.push(() => work(job));
        if (!isBusy) void drain();
      };
    },
    "a loop over a stream": (work) => {
      let stream;
      const read = async () => {
        for await (const job of stream) await work(job);
      };
      return (job) => {
        stream ??= new PassThrough({ objectMode: true });
        if (stream.listenerCount("readable") === 0) void read();
        stream.write(job);
      };
    },
    "a listener of a port": (work, t) => {
      let ports;
      return (job) => {
        if (!ports) {
          ports = new MessageChannel();
          ports.port1.on("message", work);
          t.after(() => ports.port1.close());
        }
        ports.port2.postMessage(job);
      };
    },
  };

  for (const [kind, make] of Object.entries(KINDS)) {
    test(`is nobody's after the first job: ${kind}`, async (t) => {
      const { request, send, until } = start(t);
      const push = make(send, t);
      for (const name of "abac") request(name, () => push(name));
      assert.deepEqual(await until(4), ["a", "nobody", "nobody", "nobody"]);
    });
  }

  test("is nobody's, whenever the jobs come, of a listener that the first request has made", async (t) => {
    const { request, send, until } = start(t);
    const push = KINDS["a listener of a port"](send, t);
    request("a", () => push("a"));
    await until(1);
    request("b", () => push("b"));
    await until(2);
    request("c", () => push("c"));
    assert.deepEqual(await until(3), ["a", "nobody", "nobody"]);
  });

  test("is its own test's while no other one is known", async (t) => {
    const { request, send, until } = start(t);
    const push = KINDS["a loop over an array"](send);
    for (const name of "aaa") request(name, () => push(name));
    assert.deepEqual(await until(3), ["a", "a", "a"]);
  });

  test("is its request's own until the response has ended", async (t) => {
    const { request, send, found } = start(t);
    request("b", () => {});
    await request("a", async (end) => {
      for (let page = 0; page < 3; page += 1) await send();
      end();
    });
    assert.deepEqual(found, ["a", "a", "a"]);
  });

  test("is its request's own where one line follows the other", async (t) => {
    const { request, send, until } = start(t);
    const tell = async () => {
      await send();
      await sleep(1);
      await send();
    };
    void request("a", async (end) => {
      await send();
      end();
      request("b", () => {});
      await send();
      request("c", () => {});
      await tell();
      await Promise.all([1, 2, 3].map(() => send()));
    });
    assert.deepEqual(await until(7), [..."aaaaaaa"]);
  });

  test("is nobody's where the request sends from one line again and again after its answer", async (t) => {
    const { request, send, found } = start(t);
    request("b", () => {});
    await request("a", async (end) => {
      end();
      for (let page = 0; page < 3; page += 1) await send();
      await send();
    });
    assert.deepEqual(found, ["a", "nobody", "nobody", "nobody"]);
  });

  test("is the job's own test's where it was bound", async (t) => {
    const { contexts, request, send, until } = start(t);
    const push = KINDS["jobs that are functions"]((act) => act());
    for (const name of "abac") {
      request(name, () => {
        const moment = contexts.moment();
        push(() => contexts.within(moment, send));
      });
    }
    assert.deepEqual(await until(4), [..."abac"]);
  });

  test("says that it is a loop", async (t) => {
    const { contexts, request, send, found } = start(t);
    let origin;
    request("b", () => {});
    await request("a", async (end) => {
      end();
      for (let page = 0; page < 2; page += 1) await send();
      origin = contexts.originOf(contexts.current(), start)?.toWire();
    });
    assert.deepEqual([found, origin.kind], [["a", "nobody"], "loop"]);
  });
});
