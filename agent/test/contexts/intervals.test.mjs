import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { createRequire } from "node:module";
import { test } from "node:test";
import * as timers from "node:timers";

const require = createRequire(import.meta.url);
const { hookIntervals } = require("../../src/contexts/intervals.js");
const { TestContexts } = require("../../src/contexts/test-contexts.js");

const ID = "a".repeat(32);

for (const [name, setIntervalOf] of [
  ["the global function", () => globalThis.setInterval],
  ["node:timers", () => timers.setInterval],
]) {
  test(`an interval has the context of the request that started it until that is over, by ${name}`, async () => {
    const original = setIntervalOf();
    const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
    const undo = hookIntervals(contexts);
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

test("an interval without a context, and a wrong call, are Node's own", async () => {
  const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
  const undo = hookIntervals(contexts);
  assert.throws(() => contexts.storage.run({ id: ID, closedAt: undefined }, () => setInterval("text", 1)), {
    code: "ERR_INVALID_ARG_TYPE",
  });
  await new Promise((resolve) => {
    const timer = setInterval(() => resolve(clearInterval(timer)), 1);
  });
  undo();
});
