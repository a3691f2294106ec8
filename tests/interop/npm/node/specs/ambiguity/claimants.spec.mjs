/** Run with two workers, each test beside the next. */
import { expect, fresh, meet, row, socketRow, test, until, upstreamUrl } from "../../lib/fixtures.mjs";

const HTTP_URL = `${upstreamUrl}/json/wanted-by-two`;
const WS_URL = HTTP_URL.replace("http:", "ws:");
const TEXT = /Ambiguous backend mock routing/i;

const errorsOf = (backendMocks) =>
  until(
    async () => backendMocks.takeErrors(),
    (errors) => errors.length > 0,
    "the ambiguity's error",
  );

test("HTTP: the claimant whose app asks", async ({ app, backendMocks }) => {
  await backendMocks.route(HTTP_URL, (route) => route.fulfill({ body: "first" }));
  await meet("http-routed");
  const outcome = await app.fetch(HTTP_URL);
  expect(outcome.error.cause?.message ?? outcome.error.message).toMatch(TEXT);
  const errors = await errorsOf(backendMocks);
  expect(errors.map((error) => error.message).join()).toMatch(TEXT);
  await meet("http-told");
  const entry = await row(HTTP_URL);
  expect(entry).toMatchObject({ action: "error", outcome: { kind: "error", code: "ambiguous_route" } });
  expect(entry.testId).toBeUndefined();
  const titles = entry.outcome.matches.map((match) => match.title).sort();
  expect(titles).toHaveLength(2);
  expect(titles[0]).toContain("HTTP: the claimant who looks on");
  expect(titles[1]).toContain("HTTP: the claimant whose app asks");
  expect(new Set(entry.outcome.matches.map((match) => match.workerId)).size).toBe(2);
});

test("HTTP: the claimant who looks on", async ({ backendMocks }) => {
  await backendMocks.route(HTTP_URL, (route) => route.fulfill({ body: "second" }));
  await meet("http-routed");
  const errors = await errorsOf(backendMocks);
  expect(errors.map((error) => error.message).join()).toMatch(TEXT);
  await meet("http-told");
});

test("WebSocket: the claimant whose app asks", async ({ app, backendMocks }) => {
  await backendMocks.routeWebSocket(WS_URL, (ws) => ws.send("first"));
  await meet("ws-routed");
  const socket = await app.socket(WS_URL);
  expect((await socket.events(1))[0].type).toBe("error");
  const errors = await errorsOf(backendMocks);
  expect(errors.map((error) => error.message).join()).toMatch(TEXT);
  await meet("ws-told");
  const connection = await socketRow(WS_URL);
  expect(connection).toMatchObject({ outcome: "error", errorCode: "ambiguous_route" });
  expect(connection.matches).toHaveLength(2);
});

test("WebSocket: the claimant who looks on", async ({ backendMocks }) => {
  await backendMocks.routeWebSocket(WS_URL, (ws) => ws.send("second"));
  await meet("ws-routed");
  const errors = await errorsOf(backendMocks);
  expect(errors.map((error) => error.message).join()).toMatch(TEXT);
  await meet("ws-told");
});

async function ownTraffic(app, backendMocks, name) {
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ body: name }));
  await meet("own-routed");
  const outcomes = await app.all(Array.from({ length: 10 }, () => ({ url })));
  expect(new Set(outcomes.map((outcome) => outcome.body))).toEqual(new Set([name]));
  await meet("own-done");
}

test("each test decides its own traffic: left", async ({ app, backendMocks }) => {
  await ownTraffic(app, backendMocks, "left");
});

test("each test decides its own traffic: right", async ({ app, backendMocks }) => {
  await ownTraffic(app, backendMocks, "right");
});
