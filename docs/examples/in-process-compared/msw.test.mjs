import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import request from "supertest";
import { app } from "./shop.mjs";

const server = setupServer();
before(() => server.listen({ onUnhandledRequest: "bypass" }));
afterEach(() => server.resetHandlers());
after(() => server.close());

test("tells the price", async () => {
  const asked = [];
  server.use(
    http.get("https://prices.example/v1", ({ request }) => {
      asked.push(request.url);
      return HttpResponse.json({ price: 12 });
    }),
  );
  const { body } = await request(app).get("/price/teapot");
  assert.deepEqual(body, { item: "teapot", price: 12 });
  assert.deepEqual(asked, ["https://prices.example/v1?item=teapot"]);
});
