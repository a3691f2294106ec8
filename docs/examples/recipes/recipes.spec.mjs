// Recipes: what a test lets the shop's services do.
import { gzipSync } from "node:zlib";
import { expect, test } from "trafficmock-playwright";

const PRICES = "https://prices.example/v1/teapot";

/** Ask the shop for a page, and give its text. */
const page = async (request, path) => (await request.get(path)).text();

test("first answer fails", async ({ request, trafficmock }) => {
  await trafficmock.mock(PRICES, { json: { price: 42 } });
  await trafficmock.mock(PRICES, { status: 503, times: 1 });
  expect(await page(request, "/price")).toBe("42 €");
});

test("sequence", async ({ request, trafficmock }) => {
  await trafficmock.mock(PRICES, { sequence: [503, 503, { json: { price: 42 } }] });
  expect(await page(request, "/price")).toBe("42 €");
  expect(await trafficmock.requests(PRICES)).toHaveLength(3);
});

test("slow service", async ({ request, trafficmock }) => {
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
  await trafficmock.route(PRICES, (route) => route.abort("connectionrefused"));
  expect(await page(request, "/price")).toBe("ECONNREFUSED");
});

test("expired token", async ({ request, trafficmock }) => {
  const tokens = ["expired", "valid"];
  await trafficmock.route({ url: "https://login.example/oauth/token", method: "POST" }, (route) =>
    route.fulfill({ json: { access_token: tokens.shift(), token_type: "Bearer", expires_in: 3600 } }),
  );
  await trafficmock.route("https://orders.example/v1", (route, asked) => {
    const valid = asked.headers().authorization === "Bearer valid";
    return route.fulfill(valid ? { json: ["order 1"] } : { status: 401 });
  });
  expect(JSON.parse(await page(request, "/orders"))).toEqual(["order 1"]);
});

/** Answer one GraphQL operation, and leave the others to older routes. */
function operation(name, data) {
  return (route, asked) =>
    asked.postDataJSON().operationName === name ? route.fulfill({ json: { data } }) : route.fallback();
}

test("GraphQL", async ({ request, trafficmock }) => {
  await trafficmock.route("https://api.example/graphql", operation("User", { name: "Ada" }));
  await trafficmock.route("https://api.example/graphql", operation("Basket", { items: 2 }));
  expect(await page(request, "/basket")).toBe("Ada: 2");
});

test("cookies", async ({ request, trafficmock }) => {
  const cookies = ["session=1; HttpOnly", "theme=dark; Path=/"];
  await trafficmock.mock("https://login.example/session", { headers: { "set-cookie": cookies.join("\n") } });
  expect(await page(request, "/session")).toBe("session=1; HttpOnly | theme=dark; Path=/");
});

test("compressed answer", async ({ request, trafficmock }) => {
  await trafficmock.route("https://feed.example/teapots", (route) =>
    route.fulfill({
      body: gzipSync("one, two"),
      headers: { "content-encoding": "gzip", "content-type": "text/plain" },
    }),
  );
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
