import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";

const { KnownContexts } = createRequire(import.meta.url)("../../src/contexts/known-contexts.js");

/** A clock that tests advance. */
class Clock {
  time = 0;
  timers = [];
  now = () => this.time;
  after = (ms, act) => this.timers.push({ at: this.time + ms, act });

  advance(ms) {
    this.time += ms;
    const due = this.timers.filter(({ at }) => at <= this.time);
    this.timers = this.timers.filter(({ at }) => at > this.time);
    for (const { act } of due) act();
  }
}

describe("the contexts of inbound requests", () => {
  const start = () => {
    const clock = new Clock();
    return { clock, known: new KnownContexts(30_000, clock) };
  };
  const context = (id) => ({ id, isForwarded: true, closedAt: undefined });

  test("are forgotten a while after their request, and nothing waits then", () => {
    const { clock, known } = start();
    const [a, b] = [context("a"), context("b")];
    known.add(a);
    known.add(b);
    clock.advance(60_000);
    assert.equal(known.byId.size, 2);
    assert.equal(clock.timers.length, 0);
    known.close(b);
    clock.advance(10_000);
    known.close(a);
    assert.equal(clock.timers.length, 1);
    clock.advance(20_001);
    assert.deepEqual([...known.byId.keys()], ["a"]);
    clock.advance(10_001);
    assert.deepEqual([known.byId.size, known.closed.size, clock.timers.length], [0, 0, 0]);
  });

  test("last from their last request, not from an earlier one of the same id", () => {
    const { clock, known } = start();
    const [first, second] = [context("a"), context("a")];
    known.add(first);
    known.close(first);
    clock.advance(20_000);
    known.add(second);
    clock.advance(20_000);
    assert.equal(known.byId.get("a"), second);
    known.close(second);
    clock.advance(30_001);
    assert.equal(known.byId.size, 0);
  });

  test("an earlier one that ends later changes nothing", () => {
    const { clock, known } = start();
    const [first, second] = [context("a"), context("a")];
    known.add(first);
    known.add(second);
    known.close(first);
    assert.deepEqual([known.closed.size, clock.timers.length], [0, 0]);
    assert.equal(known.byId.get("a"), second);
  });

  test("are no more than a thousand, whatever comes in", () => {
    const { clock, known } = start();
    for (let at = 0; at < 10_000; at += 1) {
      const one = context(`id ${at}`);
      known.add(one);
      if (at % 2) known.close(one);
    }
    assert.deepEqual([known.byId.size, known.closed.size, clock.timers.length], [1000, 500, 1]);
    assert.ok(known.byId.has("id 9999"));
    clock.advance(30_001);
    assert.deepEqual([known.byId.size, known.closed.size, clock.timers.length], [500, 0, 0]);
  });
});

test("the timer does not keep the process alive", async () => {
  const { runNode } = await import("../lib/child.mjs");
  const code = `
    const { KnownContexts } = require("./src/contexts/known-contexts.js");
    const known = new KnownContexts(600_000);
    const one = { id: "a" };
    known.add(one);
    known.close(one);`;
  const { status, stderr } = await runNode(code, { preload: "", ms: 60_000 });
  assert.deepEqual([status, stderr], [0, ""]);
});
