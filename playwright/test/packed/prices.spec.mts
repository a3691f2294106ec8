/* A strict TypeScript project's tests; the pack test runs them as an ES module and as CommonJS. */
import { mergeTests, test as base } from "@playwright/test";
import {
  expect,
  test as withTraffic,
  type BackendRequest,
  type BackendResponse,
  type BackendRoute,
  type Request,
  type Route,
  type RouteMatcherInput,
  type RouteUrl,
  type TrafficMock,
  type UrlMatcher,
  type WaitForNetworkOptions,
} from "trafficmock-playwright";
import { connect, type ConnectedTrafficMock } from "trafficmock-playwright/core";

const PRICES: UrlMatcher = "http://prices.example/items/*";

const ours = base.extend<{ item: string }>({ item: async ({}, use) => use("teapot") });
const test = mergeTests(withTraffic, ours);

async function sell(mocks: TrafficMock, price: number): Promise<void> {
  await mocks.route({ url: PRICES, method: ["GET"] }, async (route: Route, request: Request) => {
    const path: string = new URL(request.url()).pathname;
    await route.fulfill({ json: { price, path } });
  });
}

test("tells what the price service says", async ({ request, trafficmock, item }) => {
  await sell(trafficmock, 12);
  const asked = trafficmock.waitForRequest(PRICES);
  const answer = await request.get(`/price/${item}`);
  expect(await answer.json()).toEqual({ item, price: 12 });
  const { clientId }: { readonly clientId: string } = await asked;
  expect(clientId).toBe("shop");
  expect((await trafficmock.requests({ url: PRICES })).map((each) => each.method())).toEqual(["GET"]);
});

test("a required mock", async ({ request, trafficmock }) => {
  await trafficmock.mock(PRICES, { required: true, json: { price: 3 } });
  await trafficmock.route("**/spare", (route) => route.abort(), { required: false });
  // @ts-expect-error it is a boolean
  expect(() => trafficmock.mock(PRICES, { required: "yes" })).toBeDefined();
  expect((await request.get("/price/teapot")).status()).toBe(200);
});

test("the names of the npm fixture", async ({ request, backendMocks }) => {
  await backendMocks.route(/prices\.example/, (route) => route.abort("connectionrefused"));
  expect((await request.get("/price/teapot")).status()).toBe(502);
  // @ts-expect-error a code that Playwright does not have
  expect(() => backendMocks.route(PRICES, (route) => route.abort("offline"))).toBeDefined();
});

test("the types of the npm fixture, and typed bodies", async ({ request, backendMocks }) => {
  const matcher: RouteMatcherInput = { url: PRICES satisfies RouteUrl, method: "GET" };
  const options: WaitForNetworkOptions = { timeout: 5000 };
  await backendMocks.route(matcher, async (route: BackendRoute, asked: BackendRequest) => {
    const sent = asked.postDataJSON<{ item: string } | null>();
    await route.fulfill({ json: { price: sent?.item.length ?? 4 } });
  });
  const answered = backendMocks.waitForResponse(PRICES, options);
  await request.get("/price/teapot");
  const response: BackendResponse = await answered;
  const { price } = await response.json<{ price: number }>();
  expect(price.toFixed(1)).toBe("4.0");
});

test("the core", async ({ baseURL }) => {
  const mocks: ConnectedTrafficMock = await connect({
    title: "the core",
    proxyUrl: process.env["TRAFFICMOCK_PROXY_URL"]!,
  });
  await sell(mocks, 7);
  const answer = await fetch(new URL("/price/cup", baseURL), { headers: mocks.headers });
  expect(await answer.json()).toEqual({ item: "cup", price: 7 });
  await mocks.end();
});
