/** Each victim's test ends with its worker; the next test, in a new worker, looks at what is left. */
import {
  agent,
  answered,
  expect,
  meet,
  mustFail,
  ours,
  rest,
  row,
  socketRow,
  test,
  until,
  upstreamUrl,
} from "../../lib/fixtures.mjs";
import { dieAsWorker } from "../../lib/faults.mjs";

const KILLED = /SIGKILL/;
const url = (name) => `${upstreamUrl}/json/worker-killed-${name}`;
const socketUrl = (name) => url(name).replace("http:", "ws:");
const forEver = () => new Promise(() => {});

async function expectDisconnected(app, name, title) {
  const outcome = await app.outcome(name);
  expect(outcome.error).toBeDefined();
  const entry = await row(url(name));
  expect(entry).toMatchObject({ action: "error", outcome: { kind: "error", code: "disconnected" } });
  expect(entry.title).toContain(title);
}

test("victim: killed while asked", mustFail(KILLED), async ({ app, backendMocks }) => {
  await backendMocks.route(
    (seen) => seen.href === url("claim") && dieAsWorker(),
    (route) => route.abort(),
  );
  await app.begin("claim", url("claim"));
  await forEver();
});

test("killed while asked: the request passes through", async ({ app }) => {
  expect((await app.outcome("claim")).body).toContain("upstream");
  expect((await row(url("claim"), answered)).action).toBe("passthrough");
});

test("victim: killed while its handler runs", mustFail(KILLED), async ({ app, backendMocks }) => {
  await backendMocks.route(url("matched"), dieAsWorker);
  await app.begin("matched", url("matched"));
  await forEver();
});

test("killed while its handler runs: the app's call fails, history names the owner", async ({ app }) => {
  await expectDisconnected(app, "matched", "victim: killed while its handler runs");
});

test("victim: killed while it fetches", mustFail(KILLED), async ({ app, backendMocks }) => {
  await backendMocks.route(url("fetch"), async (route) => {
    route.fetch({ url: `${upstreamUrl}/held/fetching` }).catch(() => {});
    await meet("fetching-held");
    dieAsWorker();
  });
  await app.begin("fetch", url("fetch"));
  await forEver();
});

test("killed while it fetches: the app's call fails, the late result harms nobody", async ({ app }) => {
  await expectDisconnected(app, "fetch", "victim: killed while it fetches");
  await meet("fetching-release");
  expect((await app.fetch(url("afterwards"))).status).toBe(200);
});

test("victim: killed after it continued", mustFail(KILLED), async ({ app, backendMocks }) => {
  await backendMocks.route(url("continue"), async (route) => {
    await route.continue({ url: `${upstreamUrl}/held/continuing` });
    await meet("continuing-held");
    dieAsWorker();
  });
  await app.begin("continue", url("continue"));
  await forEver();
});

test("killed after it continued: the response reaches app and history", async ({ app }) => {
  await meet("continuing-release");
  expect((await app.outcome("continue")).body).toBe("released");
  expect((await row(url("continue"), answered)).action).toBe("continue");
});

test("victim: killed with a held, an open and a closed socket", mustFail(KILLED), async ({ app, backendMocks }) => {
  await backendMocks.routeWebSocket(socketUrl("open"), () => {});
  await backendMocks.routeWebSocket(socketUrl("closed"), (ws) => ws.close({ code: 4000, reason: "done" }));
  const closed = await app.socket(socketUrl("closed"), { key: "closed" });
  await closed.events(1);
  const open = await app.socket(socketUrl("open"), { key: "open" });
  await open.events(1);
  await socketRow(socketUrl("closed"), (connection) => connection.close !== undefined);
  await backendMocks.routeWebSocket(socketUrl("held"), dieAsWorker);
  await app.socket(socketUrl("held"), { key: "held" });
  await forEver();
});

test("killed with a held and an open socket: the app's sockets fail, history says so", async ({ app }) => {
  // Our agent ends an open socket as a lost connection does.
  const end = agent === "ours" ? { type: "close", code: 1006 } : { type: "error" };
  for (const [name, count, last] of [
    ["held", 1, { type: "error" }],
    ["open", 2, end],
  ]) {
    expect((await app.knownSocket(name).events(count))[count - 1]).toMatchObject(last);
    const connection = await socketRow(socketUrl(name), (each) => each.outcome === "error");
    expect(connection.errorCode).toBe("disconnected");
  }
});

test("killed with a closed socket: it stays matched", async ({ app }) => {
  ours("turns properly closed sockets into errors, in history and in the app");
  await socketRow(socketUrl("open"), (each) => each.outcome === "error");
  expect((await socketRow(socketUrl("closed"))).outcome).toBe("matched");
  const types = agent === "ours" ? ["open", "close"] : ["close"];
  const events = await app.knownSocket("closed").events(types.length);
  expect(events.map((event) => event.type)).toEqual(types);
});

test("the killed workers' tests are forgotten", async ({ backendMocks }) => {
  expect(backendMocks).toBeDefined();
  const workers = await until(
    async () => (await rest("/api/connections")).body.playwrightWorkers,
    (listed) => listed.length === 1,
    "only this worker",
  );
  expect(workers[0]).toMatchObject({ testCount: 1, routeCount: 0 });
});
