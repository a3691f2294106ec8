/** Run with `--history-capture handled`. */
import { expect, fresh, freshSocket, rest, row, rows, test, until } from "../../lib/fixtures.mjs";

test("what a test acted on is kept", async ({ app, backendMocks }) => {
  const [mocked, continued] = [fresh("json"), fresh("json")];
  await backendMocks.route(mocked, (route) => route.fulfill({ body: "mock" }));
  await backendMocks.route(continued, (route) => route.continue());
  await app.fetch(mocked);
  await app.fetch(continued);
  expect((await row(mocked)).action).toBe("fulfill");
  expect((await row(continued)).action).toBe("continue");
  expect((await rest("/health")).body.historyCapture).toBe("handled");
});

test("what passed through is not", async ({ app, backendMocks }) => {
  const [url, marker, socketUrl] = [fresh("json"), fresh("json"), freshSocket("ws-echo")];
  expect((await app.fetch(url)).body).toContain("upstream");
  await (await app.socket(socketUrl)).events(1);
  await backendMocks.route(marker, (route) => route.fulfill({ body: "mock" }));
  await app.fetch(marker);
  await row(marker);
  expect(
    await until(
      () => rows(url),
      (kept) => kept.length === 0,
      "no row",
    ),
  ).toEqual([]);
  const sockets = (await rest("/api/ws")).body.connections;
  expect(sockets.filter((connection) => connection.url === socketUrl)).toEqual([]);
});
