import {
  expect,
  fresh,
  freshSocket,
  meet,
  ours,
  rest,
  row,
  socketRow,
  test,
  until,
  upstreamUrl,
} from "../../lib/fixtures.mjs";
import { killNow } from "../../lib/faults.mjs";

const disconnected = (entry) => entry.outcome.code === "disconnected";

async function expectGone(clientId) {
  await until(
    async () => (await rest("/api/connections")).body.nodeAgents,
    (agents) => agents.every((agent) => agent.clientId !== clientId),
    "the dead agent's leaving",
  );
}

test("agent killed while a worker is asked", async ({ app, backendMocks, ownApp }) => {
  const own = await ownApp();
  const url = fresh("json");
  await backendMocks.route(
    (seen) => {
      if (seen.href === url) killNow(own.child);
      return seen.href === url;
    },
    (route) => route.fulfill({ body: "nobody hears this" }),
  );
  await own.begin("asked", url);
  expect((await row(url, disconnected)).action).toBe("error");
  await expectGone(own.clientId);
  expect((await app.fetch(fresh("json"))).status).toBe(200);
});

test("agent killed while the handler runs", async ({ app, backendMocks, ownApp }) => {
  const own = await ownApp();
  const url = fresh("json");
  let handled;
  const done = new Promise((resolve) => (handled = resolve));
  await backendMocks.route(url, async (route) => {
    await own.kill();
    await row(url, disconnected);
    await route.fulfill({ body: "nobody hears this" });
    handled();
  });
  await own.begin("matched", url);
  await done;
  const entry = await row(url, disconnected);
  expect(entry.title).toContain("agent killed while the handler runs");
  expect(entry.outcome.kind).toBe("error");
  await backendMocks.unrouteAll();
  expect((await app.fetch(url)).status).toBe(200);
});

async function killedWhileFetching(backendMocks, ownApp, name) {
  const own = await ownApp();
  const url = fresh("json");
  let failed;
  const failure = new Promise((resolve) => (failed = resolve));
  await backendMocks.route(url, async (route) => {
    const fetching = route.fetch({ url: `${upstreamUrl}/held/${name}`, timeout: 3000 }).catch(failed);
    await meet(`${name}-held`);
    await own.kill();
    await fetching;
  });
  await own.begin("fetching", url);
  await row(url, disconnected);
  return failure;
}

test("agent killed while it fetches: history says so", async ({ backendMocks, ownApp }) => {
  await killedWhileFetching(backendMocks, ownApp, "agent-killed");
  expect((await rest("/health")).body.ok).toBe(true);
});

test("agent killed while it fetches: the handler is told at once", async ({ backendMocks, ownApp }) => {
  ours("lets the handler's fetch run into its own timeout");
  const error = await killedWhileFetching(backendMocks, ownApp, "agent-killed-told");
  expect(error.message).not.toMatch(/timeout/i);
});

test("agent killed with an open mock: history says so", async ({ backendMocks, ownApp }) => {
  const own = await ownApp();
  const url = freshSocket("nowhere");
  await backendMocks.routeWebSocket(url, () => {});
  await (await own.socket(url)).events(1);
  await own.kill();
  const connection = await socketRow(url, (each) => each.outcome === "error");
  expect(connection.errorCode).toBe("disconnected");
});

test("agent killed with an open mock: the handler learns of the close", async ({ backendMocks, ownApp }) => {
  ours("does not tell the worker");
  const own = await ownApp();
  const url = freshSocket("nowhere");
  let note;
  const closed = new Promise((resolve) => (note = resolve));
  await backendMocks.routeWebSocket(url, (ws) => ws.onClose(note));
  await (await own.socket(url)).events(1);
  await own.kill();
  await closed;
});
