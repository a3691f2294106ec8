// What the Node application makes of a price service that the test decides about.
import { expect, test } from "trafficmock-playwright";

const PRICES = "https://prices.example/items/*";

test("tells the price", async ({ request, trafficmock }) => {
  await trafficmock.mock(PRICES, { json: { price: 12 } });
  const answer = await request.get("/price/teapot");
  expect(await answer.json()).toEqual({ item: "teapot", price: 12 });
});

test("survives a price service that is down", async ({ request, trafficmock }) => {
  await trafficmock.route(PRICES, (route) => route.abort("connectionrefused"));
  const answer = await request.get("/price/teapot");
  expect(answer.status()).toBe(502);
});
