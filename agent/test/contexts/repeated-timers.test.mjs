import assert from "node:assert/strict";
import { AsyncResource } from "node:async_hooks";
import { EventEmitter, once } from "node:events";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import * as timers from "node:timers";

const require = createRequire(import.meta.url);
const { hookRepeatedTimers } = require("../../src/contexts/repeated-timers.js");
const { TestContexts } = require("../../src/contexts/test-contexts.js");

const ID = "a".repeat(32);

for (const [name, setIntervalOf] of [
  ["the global function", () => globalThis.setInterval],
  ["node:timers", () => timers.setInterval],
]) {
  test(`an interval has the context of the request that started it until that is over, by ${name}`, async () => {
    const original = setIntervalOf();
    const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
    const undo = hookRepeatedTimers(contexts);
    const [req, socket, ticks] = [new EventEmitter(), new EventEmitter(), new EventEmitter()];
    req.headers = { baggage: `trafficmock.test=${ID}` };
    let given;
    const timer = contexts.enter(req, req.headers, socket, () =>
      setIntervalOf()(
        function (...args) {
          given = [this, args];
          ticks.emit("tick", contexts.current()?.id);
        },
        1,
        "first",
        "second",
      ),
    );
    assert.deepEqual(await once(ticks, "tick"), [ID]);
    assert.deepEqual(given, [timer, ["first", "second"]]);
    socket.emit("close");
    await once(ticks, "tick");
    assert.deepEqual(await once(ticks, "tick"), [undefined]);
    clearInterval(timer);
    undo();
    assert.equal(setIntervalOf(), original);
  });
}

for (const [name, again] of [
  ["a timer that a timer starts", (tick) => tick && setTimeout(tick, 1)],
  ["a timer that is started anew", (_, timer) => timer.refresh()],
]) {
  test(`${name} after the request has no context, and the first one has`, async () => {
    const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
    const undo = hookRepeatedTimers(contexts);
    const context = { id: ID, closedAt: undefined };
    const seen = [];
    await new Promise((resolve) => {
      const tick = function () {
        seen.push(contexts.current()?.id);
        if (seen.length === 2) context.closedAt = performance.now();
        if (seen.length === 5) return resolve();
        void Promise.resolve().then(() => again(tick, this));
      };
      contexts.storage.run(context, () => setTimeout(tick, 1));
    });
    assert.deepEqual(seen, [ID, ID, ID, undefined, undefined]);
    undo();
  });
}

describe("a timer that requests of several tests share", () => {
  const start = (t, names = "ab") => {
    const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
    t.after(hookRepeatedTimers(contexts));
    const requests = Object.fromEntries([...names].map((name) => [name, contexts.begin({ baggage: baggageOf(name) })]));
    t.after(() => contexts.wakes.stop());
    const within = (name, act) => contexts.storage.run(requests[name], act);
    const whose = () => (contexts.current()?.isPast ? "nobody" : (contexts.current()?.id[0] ?? "nobody"));
    return { contexts, requests, within, whose };
  };
  const baggageOf = (name) => `trafficmock.test=${name.repeat(32)}`;

  /** A schedule with one timer, which is set to its earliest date. */
  class Schedule {
    dates = [];

    add(ms, job) {
      const date = { at: performance.now() + ms, job };
      this.dates = [...this.dates, date].sort((one, other) => one.at - other.at);
      if (this.dates[0] === date) this.#set();
      return date;
    }

    cancel(date) {
      const isNext = this.dates[0] === date;
      this.dates = this.dates.filter((one) => one !== date);
      if (isNext) this.#set();
    }

    #set() {
      clearTimeout(this.timer);
      const [next] = this.dates;
      if (next) this.timer = setTimeout(() => this.#run(), Math.max(next.at - performance.now(), 0));
    }

    #run() {
      const { job } = this.dates.shift();
      const [next] = this.dates;
      if (next) this.timer = setTimeout(() => this.#run(), Math.max(next.at - performance.now(), 0));
      job();
    }
  }

  for (const [name, ms, cancelled] of [
    ["rising dates", [5, 10, 15, 20]],
    ["falling dates", [20, 15, 10, 5]],
    ["the same date", [5, 5, 5, 5]],
    ["an earlier date that is cancelled", [10, 15, 20, 25], "b"],
  ]) {
    test(`has never another test's context: ${name}`, async (t) => {
      const { within, whose } = start(t, "abcd");
      const schedule = new Schedule();
      const early = cancelled && within(cancelled, () => schedule.add(1, () => assert.fail("cancelled")));
      const jobs = [..."abcd"].map(
        (own, at) => new Promise((resolve) => within(own, () => schedule.add(ms[at], () => resolve([own, whose()])))),
      );
      if (early) within(cancelled, () => schedule.cancel(early));
      const found = await Promise.all(jobs);
      assert.deepEqual(
        found.filter(([own, has]) => has !== own && has !== "nobody"),
        [],
      );
    });
  }

  const nested = (act) => new Promise((resolve) => setTimeout(() => setTimeout(() => resolve(act()), 1), 1));

  test("is its own test's where no other one is known", async (t) => {
    const { within, whose } = start(t, "a");
    assert.equal(await within("a", () => nested(whose)), "a");
  });

  test("is one that a timer starts, and says that it is a timer", async (t) => {
    const { contexts, requests, within, whose } = start(t);
    const kind = () => contexts.originOf(contexts.current(), start).toWire().kind;
    assert.equal(await within("a", () => nested(whose)), "nobody");
    assert.equal(await within("a", () => nested(kind)), "timer");
    // Also where the request is over when the second one fires.
    const late = within("a", () => nested(whose));
    requests.a.closedAt = performance.now();
    assert.equal(await late, "nobody");
  });

  test("is set back by the request of another test, or fires a second time", async (t) => {
    const { within, whose } = start(t);
    for (const [by, expected] of [
      ["a", "a"],
      ["b", "nobody"],
    ]) {
      const found = await new Promise((resolve) => {
        const timer = within("a", () => setTimeout(() => resolve(whose()), 1));
        within(by, () => timer.refresh());
      });
      assert.equal(found, expected);
    }
    const found = [];
    await new Promise((resolve) =>
      within("a", () =>
        setTimeout(function () {
          found.push(whose());
          if (found.length === 2) resolve();
          else queueMicrotask(() => this.refresh());
        }, 1),
      ),
    );
    assert.deepEqual(found, ["a", "nobody"]);
  });

  test("is no timer of a request alone", async (t) => {
    const { within, whose } = start(t);
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const own = {
      "one after a promise": async () => {
        await sleep(1);
        await sleep(1);
      },
      "one after another one was cleared": async () => {
        clearTimeout(setTimeout(() => assert.fail("cleared"), 1));
        await new Promise((resolve) => setTimeout(() => resolve(), 1));
      },
      "one that a promise in a timer starts": () =>
        new Promise((resolve) => setTimeout(() => void sleep(1).then(() => setTimeout(resolve, 1)), 1)),
      "one that a bound function in a timer starts": () => {
        const bound = AsyncResource.bind((resolve) => setTimeout(resolve, 1));
        return new Promise((resolve) => setTimeout(() => bound(resolve), 1));
      },
    };
    for (const [name, act] of Object.entries(own)) {
      const found = await within("a", () => new Promise((resolve) => act().then(() => resolve(whose()))));
      assert.equal(found, "a", name);
    }
    const direct = await within("a", () => {
      const bound = AsyncResource.bind((resolve) => setTimeout(() => resolve(whose()), 1));
      return new Promise((resolve) => setTimeout(() => bound(resolve), 1));
    });
    assert.equal(direct, "a");
  });
});

test("setTimeout is what it was for promisify, and for who replaces it", async () => {
  const original = globalThis.setTimeout;
  const undo = hookRepeatedTimers(new TestContexts({ isContextRead: true, contextMs: 1 }, { isOfSystem: () => true }));
  assert.equal(await promisify(setTimeout)(1, "value"), "value");
  assert.deepEqual([setTimeout.name, setTimeout.length], [original.name, original.length]);
  undo();
  assert.equal(globalThis.setTimeout, original);
});

test("an interval without a context, and a wrong call, are Node's own", async () => {
  const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
  const undo = hookRepeatedTimers(contexts);
  assert.throws(() => contexts.storage.run({ id: ID, closedAt: undefined }, () => setInterval("text", 1)), {
    code: "ERR_INVALID_ARG_TYPE",
  });
  await new Promise((resolve) => {
    const timer = setInterval(() => resolve(clearInterval(timer)), 1);
  });
  undo();
});
