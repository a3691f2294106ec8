/** Run with `--history-capture none`. */
import { expect, fresh, freshSocket, rest, test } from "../../lib/fixtures.mjs";

test("nothing is kept, everything is decided", async ({ app, backendMocks }) => {
  const [mocked, socketUrl] = [fresh("json"), freshSocket("nowhere")];
  await backendMocks.route(mocked, (route) => route.fulfill({ body: "mock" }));
  await backendMocks.routeWebSocket(socketUrl, (ws) => ws.send("mock"));
  const seen = backendMocks.waitForResponse(mocked);
  expect((await app.fetch(mocked)).body).toBe("mock");
  expect(await (await seen).text()).toBe("mock");
  expect((await app.fetch(fresh("redirect/1"))).body).toContain("end of");
  expect((await (await app.socket(socketUrl)).events(2))[1].data).toBe("mock");
  expect((await rest("/api/history")).body.entries).toEqual([]);
  expect((await rest("/api/ws")).body.connections).toEqual([]);
  expect((await rest("/health")).body.historyCapture).toBe("none");
  expect((await rest("/api/connections")).body.nodeAgents).toHaveLength(1);
});
