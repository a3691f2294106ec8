import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { createRequire } from "node:module";
import { test } from "node:test";
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
