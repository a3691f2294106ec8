import { expect, test } from "trafficmock-playwright";

const PRICES = "http://prices.example/items/*";

test("tells what the price service says", async ({ request, trafficmock }) => {
  await trafficmock.route(PRICES, (route) => route.fulfill({ json: { price: 12 } }));
  const answer = await request.get("/price/teapot");
  expect(await answer.json()).toEqual({ item: "teapot", price: 12 });
});

test("survives a price service that is down", async ({ request, trafficmock }) => {
  await trafficmock.route(PRICES, (route) => route.abort("connectionrefused"));
  const answer = await request.get("/price/teapot");
  expect(answer.status()).toBe(502);
});
