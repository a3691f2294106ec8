/* What a report says of a strict run: the first test fails by its own requests, the second passes, the run does not. */
import { test } from "trafficmock-playwright";

test("requests of its own", async ({ request, trafficmock }) => {
  await trafficmock.mock("http://prices.example/price/*", { json: { price: 1 } });
  await request.get("/prices/cup");
  await request.get("/prices/cup");
});

test("a request of nobody", async ({ baseURL, trafficmock }) => {
  // From here, and so without the context of the test.
  await fetch(`${baseURL}/price/can`);
  await fetch(`${baseURL}/price/can`);
  await trafficmock.requests();
});
