// Recipes: what a test lets the shop's services do.
import { gzipSync } from "node:zlib";
import { expect, test } from "trafficmock-playwright";

const PRICES = "https://prices.example/v1/teapot";

/** Ask the shop for a page, and give its text. */
const page = async (request, path) => (await request.get(path)).text();

test("sequence", async ({ request, trafficmock }) => {
  const price = await trafficmock.mock(PRICES, { sequence: [429, 503, { json: { price: 42 } }] });
  expect(await page(request, "/price")).toBe("42 €");
  expect(await price.callCount()).toBe(3);
});

test("slow service", async ({ request, trafficmock }) => {
  await trafficmock.mock(PRICES, { json: { price: 42 }, delay: 1000 });
  expect(await page(request, "/price-in-time")).toBe("TimeoutError");
});

test("answer is held back", async ({ request, trafficmock }) => {
  let checked;
  const isChecked = new Promise((resolve) => (checked = resolve));
  await trafficmock.route(PRICES, async (route) => {
    await isChecked;
    await route.fulfill({ json: { price: 42 } });
  });
  expect(await page(request, "/price-in-time")).toBe("TimeoutError");
  checked();
});

test("connection fails", async ({ request, trafficmock }) => {
  await trafficmock.mock(PRICES, { sequence: [{ abort: "connectionrefused" }] });
  expect(await page(request, "/price")).toBe("ECONNREFUSED");
});

test("stream breaks off", async ({ request, trafficmock }) => {
  const advice = await trafficmock.stream("https://llm.example/v1/advice");
  const told = page(request, "/advice");
  for (const token of ["Warm ", "the ", "pot ", "before "]) await advice.send(token);
  await advice.abort();
  expect(await told).toBe("Warm the pot before  (broken off)");
});

test("retried once", async ({ request, trafficmock }) => {
  const charges = {
    url: "https://pay.example/v1/charges",
    matchHeaders: { "Idempotency-Key": "order-7" },
    matchJson: { lines: [{ sku: "teapot", quantity: 2 }] },
  };
  const charge = await trafficmock.mock(charges, {
    sequence: [{ fault: "connection_reset" }, { json: { paid: true } }],
  });
  expect(await page(request, "/pay")).toBe("paid");
  expect(await charge.callCount()).toBe(2);
});

test("expired token", async ({ request, trafficmock }) => {
  const tokens = ["expired", "valid"].map((token) => ({ json: { access_token: token } }));
  await trafficmock.mock({ url: "https://login.example/oauth/token", method: "POST" }, { sequence: tokens });
  const orders = "https://orders.example/v1";
  await trafficmock.mock(orders, { status: 401 });
  await trafficmock.mock({ url: orders, matchHeaders: { Authorization: "Bearer valid" } }, { json: ["order 1"] });
  expect(JSON.parse(await page(request, "/orders"))).toEqual(["order 1"]);
});

test("GraphQL", async ({ request, trafficmock }) => {
  const url = "https://api.example/graphql";
  await trafficmock.mock({ url, matchGraphql: "User" }, { json: { data: { name: "Ada" } } });
  await trafficmock.mock({ url, matchGraphql: "Basket" }, { json: { data: { items: 2 } } });
  expect(await page(request, "/basket")).toBe("Ada: 2");
});

test("cookies", async ({ request, trafficmock }) => {
  const cookies = ["session=1; HttpOnly", "theme=dark; Path=/"];
  await trafficmock.mock("https://login.example/session", { headers: { "set-cookie": cookies.join("\n") } });
  expect(await page(request, "/session")).toBe("session=1; HttpOnly | theme=dark; Path=/");
});

test("compressed answer", async ({ request, trafficmock }) => {
  await trafficmock.mock("https://feed.example/teapots", {
    body: gzipSync("one, two"),
    headers: { "content-encoding": "gzip", "content-type": "text/plain" },
  });
  expect(await page(request, "/feed")).toBe("gzip: one, two");
});

test("large bodies", async ({ request, trafficmock }) => {
  await trafficmock.mock("https://backup.example/upload", { body: "y".repeat(20_000_000) });
  const upload = trafficmock.waitForRequest("https://backup.example/upload");
  expect(await page(request, "/backup")).toBe("20000000");
  expect((await upload).postDataBuffer()).toHaveLength(5_000_000);
});

test("WebSocket", async ({ request, trafficmock }) => {
  test.skip(!("WebSocket" in globalThis), "Node 20 has no WebSocket of its own");
  await trafficmock.routeWebSocket("wss://ticker.example/prices", (socket) => {
    socket.onMessage((message) => socket.send(`${message}: 42 €`));
  });
  expect(await page(request, "/ticker")).toBe("teapot: 42 €");
});

test("each application", async ({ request, trafficmock }) => {
  await trafficmock.mock({ url: PRICES, clientId: "shop" }, { json: { price: 42 } });
  await trafficmock.mock({ url: PRICES, clientId: "other-shop" }, { json: { price: 24 } });
  expect(await page(request, "/price")).toBe("42 €");
  expect(await page(request, "http://127.0.0.1:3001/price")).toBe("24 €");
});

test("nothing leaves", async ({ request, trafficmock }) => {
  await trafficmock.strict({ allow: ["login.example"] });
  await trafficmock.mock("**/v1/teapot", { json: { price: 42 } });
  expect(await page(request, "/price")).toBe("42 €");
});
