/* What a report says of tests; all but the first fail, which is the point. */
import { expect, test } from "trafficmock-playwright";

test("passes", async ({ request, trafficmock }) => {
  await trafficmock.route("**/price/*", (route) => route.fulfill({ json: { price: 1 } }));
  const came = trafficmock.waitForRequest("**/price/cup");
  await request.get("/price/cup");
  await came;
});

test("an assertion fails", async ({ request, trafficmock }) => {
  await trafficmock.route("**/price/*", function price(route) {
    return route.fulfill({ json: { price: 1 }, headers: { "set-cookie": "session=hush" } });
  });
  await request.get("/price/cup?token=hush");
  expect(1).toBe(2);
});

test("a handler throws", async ({ request, trafficmock }) => {
  await trafficmock.route("**/price/*", () => {
    throw new Error("no price today"); // the line that the report names
  });
  await request.get("/price/cup");
});

test("nothing comes", async ({ request, trafficmock }) => {
  await trafficmock.route("**/price/*", (route) => route.fulfill({ json: { price: 1 } }));
  const came = trafficmock.waitForRequest("http://prices.example/prices/cup", { timeout: 300 });
  await request.get("/price/cup");
  await came;
});

test("nobody decides", async ({ request, trafficmock }) => {
  await trafficmock.route("**/price/*", () => {});
  const came = trafficmock.waitForRequest("**/price/*");
  request.get("/price/cup").catch(() => {});
  await came;
});

test("several things go wrong", async ({ request, trafficmock }) => {
  await trafficmock.route("**/cup", () => Promise.reject(new Error("first")));
  await trafficmock.route("**/can", () => Promise.reject(new Error("second")));
  await request.get("/price/cup");
  await request.get("/price/can");
});
