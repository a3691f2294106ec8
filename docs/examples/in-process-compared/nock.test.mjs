import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import nock from "nock";
import request from "supertest";
import { app } from "./shop.mjs";

afterEach(() => nock.cleanAll());

test("tells the price", async () => {
  const prices = nock("https://prices.example").get("/v1").query({ item: "teapot" }).reply(200, { price: 12 });
  const { body } = await request(app).get("/price/teapot");
  assert.deepEqual(body, { item: "teapot", price: 12 });
  assert.ok(prices.isDone());
});
