import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "trafficmock-playwright/core";

const PRICES = "http://prices.example/items/*";

async function trafficmock(t) {
  const mocks = await connect({ title: t.name, file: import.meta.filename });
  t.after(() => mocks.end());
  return mocks;
}

async function ask(item, { headers }) {
  const answer = await fetch(`http://127.0.0.1:3000/price/${item}`, { headers });
  return answer.json();
}

test("a price", { concurrency: true }, async (suite) => {
  await Promise.all([
    suite.test("tells what the price service says", async (t) => {
      const mocks = await trafficmock(t);
      await mocks.route(PRICES, (route) => route.fulfill({ json: { price: 12 } }));
      const asked = mocks.waitForRequest(PRICES);
      assert.deepEqual(await ask("teapot", mocks), { item: "teapot", price: 12 });
      assert.equal((await asked).url(), "http://prices.example/items/teapot");
    }),
    suite.test("survives a price service that is down", async (t) => {
      const mocks = await trafficmock(t);
      await mocks.route(PRICES, (route) => route.abort("connectionrefused"));
      assert.deepEqual(await ask("teapot", mocks), { error: "no prices today" });
    }),
  ]);
});
