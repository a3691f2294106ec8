// The shop in the process of its tests, by supertest.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import request from "supertest";
import { connect } from "trafficmock-playwright/core";
import { app } from "./shop.mjs";

const PRICES = "https://prices.example/v1*";

async function trafficmock(t, options) {
  const mocks = await connect({ title: t.name, file: import.meta.filename, attachSelf: true, ...options });
  t.after(() => mocks.end());
  return mocks;
}

describe("the shop", { concurrency: true }, () => {
  test("tells the price", async (t) => {
    const mocks = await trafficmock(t);
    await mocks.route(PRICES, (route) => route.fulfill({ json: { price: 12 } }));
    const asked = mocks.waitForRequest(PRICES);
    const { body } = await request(app).get("/price/teapot");
    assert.deepEqual(body, { item: "teapot", price: 12 });
    assert.equal((await asked).url(), "https://prices.example/v1?item=teapot");
  });

  test("survives a price service that is down", async (t) => {
    const mocks = await trafficmock(t);
    await mocks.route(PRICES, (route) => route.abort("connectionrefused"));
    await request(app).get("/price/teapot").expect(503);
  });

  test("asks nobody else", async (t) => {
    const mocks = await trafficmock(t, { strict: true });
    await mocks.mock(PRICES, { json: { price: 3 } });
    await request(app).get("/price/teapot").expect(200, { item: "teapot", price: 3 });
  });
});
