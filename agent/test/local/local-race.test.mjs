import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { race } from "../lib/race.mjs";

describe("an application that blocks while routes are registered", { concurrency: 1 }, () => {
  test("no request that began after a route was acknowledged goes past it", async () => {
    const { leaked } = await race({
      routes: 8,
      disturb: (n, { cut }) => {
        if (n === 3) cut("near");
        if (n === 6) cut("far");
      },
    });
    assert.equal(leaked, 0);
  });

  test("without the acknowledgement some do", async () => {
    const { leaked } = await race({ routes: 1000, isAcknowledged: false, isOver: (found) => found > 0 });
    assert.notEqual(leaked, 0);
  });
});
