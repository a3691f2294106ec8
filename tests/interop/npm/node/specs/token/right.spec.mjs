/** Run with a token on the proxy, given to the shared app and told as E2E_TOKEN. */
import { expect, fresh, rest, startApp, test } from "../../lib/fixtures.mjs";

test.use({ backendMocksToken: process.env.E2E_TOKEN });

test("the right token on both sides", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.fulfill({ body: "let in" }));
  expect((await app.fetch(url)).body).toBe("let in");
});

test("an agent with a wrong token is told so", async () => {
  const { announced } = await startApp({ clientId: "wrong", token: `${process.env.E2E_TOKEN}x` });
  expect(announced.error.message).toMatch(/unauthorized|token/i);
});

test("an agent without a token is told so", async () => {
  const { announced } = await startApp({ clientId: "missing" });
  expect(announced.error.message).toMatch(/unauthorized|token/i);
});

test("the REST interface asks for no token and lists who came in", async ({ backendMocks }) => {
  expect(backendMocks).toBeDefined();
  const { body } = await rest("/api/connections");
  expect(body.nodeAgents.map((agent) => agent.clientId)).toEqual(["app"]);
  const workers = body.runnerWorkers ?? body.playwrightWorkers;
  expect(workers).toHaveLength(1);
  expect(workers[0]).toMatchObject({ testCount: 1, routeCount: 0 });
});
