/* What TypeScript says of handlers and options; `tsc -p .` reads it, nothing runs it. */
import type { Decided, DecidingHandler, Request, Route, RouteHandler, TrafficMock } from "../../types.js";

declare const mocks: TrafficMock;
declare const isKnown: boolean;

// Handlers that decide, in the usual ways.
mocks.route("**", async (route) => {
  await route.fulfill({ json: { price: 1 } });
});
mocks.route("**", (route) => route.abort("timedout", { delay: 100 }));
mocks.route("**", async (route, request) => {
  if (request.method() === "POST") return route.fulfill({ status: 402 });
  await route.fallback();
});
mocks.route("**", async (route) => {
  const response = await route.fetch();
  const { price } = await response.json<{ price: number }>();
  await route.fulfill({ response, json: { price: price.toFixed(2) } });
});
mocks.route("**", async (route) => {
  const stream = await route.stream({ contentType: "text/event-stream" });
  await stream.sse({ json: { token: "a" }, event: "token" });
  await stream.end();
});
mocks.route("**", () => {
  throw new Error("refused");
});
const named: RouteHandler = (route: Route, _: Request) => route.continue({ headers: {} });
mocks.unroute("**", named);

// A forgotten decision.
// @ts-expect-error it does nothing
mocks.route("**", () => {});
// @ts-expect-error it does not await its decision
mocks.route("**", (route) => {
  route.fulfill();
});
// @ts-expect-error a response is no decision
mocks.route("**", (route) => route.fetch());
// @ts-expect-error it returns the answer, in the place of giving it
mocks.route("**", async () => ({ status: 402 }));
// @ts-expect-error it decides on one of its ways
mocks.route("**", (route) => (isKnown ? route.fulfill() : undefined));

// One that says that it decides has to do so on all its ways.
const deciding: DecidingHandler = async (route, request) => {
  if (request.method() === "POST") return route.fulfill({ status: 402 });
  return route.fallback();
};
mocks.route("**", deciding);
// @ts-expect-error it decides on one of its ways
const forgetful: DecidingHandler = async (route) => {
  if (isKnown) return route.fulfill();
};
// @ts-expect-error it ends without its decision
const forgetting: DecidingHandler = async (route) => {
  await route.fetch();
};
const annotated = async (route: Route): Promise<Decided> => route.abort();
mocks.route("**", annotated);

// Matchers.
mocks.mock(
  {
    url: "**/charges",
    matchQuery: { page: 2, tag: ["a", "b"], absent: null },
    matchHeaders: { "Idempotency-Key": /^order-/ },
    matchJson: { lines: [{ sku: "teapot" }] },
    matchGraphql: ["Basket", { id: 7 }],
  },
  { json: { paid: true }, times: 1, required: true, delay: 10 },
);
mocks.mock({ matchJson: { total: (total: number) => total > 100 }, matchQuery: { tag: (tag) => tag.length > 1 } });
mocks.mock({ matchJson: () => true, matchGraphql: (name) => name.startsWith("Get") });
// @ts-expect-error a function over a value returns whether it matches
mocks.mock({ matchHeaders: { accept: () => "yes" } });
// @ts-expect-error the name of an option
mocks.mock({ matchQueries: {} });

// Faults, pieces, sequences.
mocks.mock("**", { fault: "connection_reset", body: "abc", after: 2 });
mocks.mock("**", { chunks: ["a", new Uint8Array(1)], delay: 5, contentType: "text/plain" });
mocks.mock("**", { sequence: [503, { fault: "stall" }, { abort: "timedout" }, { json: {}, delay: 5 }] });
mocks.mock("**", { body: "abc", rate: 1000 });
// @ts-expect-error a fault that there is not
mocks.mock("**", { fault: "explosion" });
// @ts-expect-error a code that there is not
mocks.mock("**", { sequence: [{ abort: "offline" }] });
// @ts-expect-error text is one piece, not several
mocks.mock("**", { chunks: 5 });

// What a test reads.
async function reads() {
  const order = (await mocks.waitForRequest("**/orders")).postDataJSON<{ id: number }>();
  order.id satisfies number;
  // @ts-expect-error a field that it does not have
  order.price;
  const stream = await mocks.stream("**/v1/chat", { contentType: "text/event-stream", status: 200 });
  (await stream.request()).postDataJSON<{ stream: boolean }>().stream satisfies boolean;
  const route = await mocks.mock("**");
  (await route.callCount()) satisfies number;
  for (const request of await route.requests()) request.url() satisfies string;
  await route.unroute();
}
void reads;
void forgetful;
void forgetting;
