import { deadUrl, expect, freshSocket, ours, rest, socketRow, test } from "../../lib/fixtures.mjs";

const kinds = (events) => events.map((event) => event.type);
const OPEN = 1;
const CLOSED = 3;

test("a mocked socket opens without a server and answers", async ({ app, backendMocks }) => {
  const url = freshSocket("nowhere");
  await backendMocks.routeWebSocket(url, (ws) => {
    ws.onMessage((message) => ws.send(typeof message === "string" ? `mock ${message}` : message));
  });
  const socket = await app.socket(url, { protocols: ["chat", "other"] });
  expect(await socket.events(1)).toEqual([{ type: "open", protocol: "chat" }]);
  await socket.send("hello");
  await socket.send(Buffer.from([0, 255, 1]));
  const events = await socket.events(3);
  expect(events.slice(1)).toEqual([
    { type: "message", data: "mock hello" },
    { type: "message", base64: Buffer.from([0, 255, 1]).toString("base64") },
  ]);
  const connection = await socketRow(url, (c) => c.events.length >= 6);
  expect(connection).toMatchObject({ outcome: "matched", clientId: "app", protocols: ["chat", "other"] });
  expect(connection.title).toContain("a mocked socket opens");
  const frames = connection.events.filter((event) => event.kind === "frame");
  expect(frames.at(-1)).toMatchObject({ direction: "client", data: "hello", isBase64: false });
  expect(connection.events.at(-1).kind).toBe("open");
  expect((await rest(`/api/ws/${connection.id}`)).body.connection.url).toBe(url);
});

test("a mock may speak first", async ({ app, backendMocks }) => {
  const url = freshSocket("nowhere");
  await backendMocks.routeWebSocket(url, (ws) => ws.send("welcome"));
  const socket = await app.socket(url);
  const events = await socket.events(2);
  expect(kinds(events)).toEqual(["open", "message"]);
  expect(events[1].data).toBe("welcome");
});

test("a relayed socket reaches the server and comes back changed", async ({ app, backendMocks }) => {
  const url = freshSocket("ws-echo");
  await backendMocks.routeWebSocket(url, (ws) => {
    const server = ws.connectToServer();
    ws.onMessage((message) => server.send(`${message}!`));
    server.onMessage((message) => ws.send(`<${message}>`));
  });
  const socket = await app.socket(url);
  await socket.events(1);
  await socket.send("one");
  const [, message] = await socket.events(2);
  expect(message.data).toBe("<echo one!>");
  expect((await socketRow(url)).outcome).toBe("matched");
});

test("a relay without handlers forwards everything both ways", async ({ app, backendMocks }) => {
  const url = freshSocket("ws-echo");
  await backendMocks.routeWebSocket(url, (ws) => void ws.connectToServer());
  const socket = await app.socket(url);
  await socket.events(1);
  const texts = Array.from({ length: 20 }, (_, index) => `n${index}`);
  for (const text of texts) await socket.send(text);
  await socket.send(Buffer.from([9, 8, 7]));
  const events = await socket.events(22);
  expect(events.slice(1, 21).map((event) => event.data)).toEqual(texts.map((text) => `echo ${text}`));
  expect(events[21].base64).toBe(Buffer.from([9, 8, 7]).toString("base64"));
});

test("nobody's socket passes through", async ({ app }) => {
  const url = freshSocket("ws-echo");
  const socket = await app.socket(url);
  await socket.events(1);
  await socket.send("direct");
  expect((await socket.events(2))[1].data).toBe("echo direct");
  await socket.send("close:4002:enough");
  const closed = (await socket.events(3))[2];
  expect(closed).toEqual({ type: "close", code: 4002, reason: "enough", wasClean: true });
  expect((await socketRow(url)).outcome).toBe("passthrough");
});

test("nobody's socket passes through while other sockets are routed", async ({ app, backendMocks }) => {
  await backendMocks.routeWebSocket(freshSocket("elsewhere"), (ws) => ws.send("not for you"));
  await backendMocks.routeWebSocket(
    (url) => url.pathname === "/never",
    (ws) => ws.send("nor this"),
  );
  const url = freshSocket("ws-echo");
  const socket = await app.socket(url);
  await socket.events(1);
  await socket.send("direct");
  expect((await socket.events(2))[1].data).toBe("echo direct");
  expect((await socketRow(url)).outcome).toBe("passthrough");
});

test("HTTP routes do not claim sockets", async ({ app, backendMocks }) => {
  await backendMocks.route("**/*", (route) => route.abort());
  const url = freshSocket("ws-echo");
  const socket = await app.socket(url);
  expect(kinds(await socket.events(1))).toEqual(["open"]);
});

test("a dead upstream is an error and a close for the app", async ({ app, backendMocks }) => {
  const url = await deadUrl("ws");
  await backendMocks.routeWebSocket(url, (ws) => void ws.connectToServer());
  const socket = await app.socket(url);
  const events = await socket.events(2);
  // The agent may report the same failed handshake twice.
  expect(kinds(events.slice(0, 2))).toEqual(["error", "close"]);
  expect(events[1].wasClean).toBe(false);
  expect(await socket.readyState()).toBe(CLOSED);
});

test("a handler that throws leaves the socket connecting, and its error is told", async ({ app, backendMocks }) => {
  const url = freshSocket("nowhere");
  let called;
  const reached = new Promise((resolve) => (called = resolve));
  await backendMocks.routeWebSocket(url, () => {
    called();
    throw new Error("the socket handler broke");
  });
  const socket = await app.socket(url);
  await reached;
  await expect
    .poll(() =>
      backendMocks
        .takeErrors()
        .map((error) => error.message)
        .join(),
    )
    .toContain("the socket handler broke");
  expect(await socket.readyState()).not.toBe(OPEN);
});

test("refusing the upgrade reaches the app as an error", async ({ app, backendMocks }) => {
  const url = freshSocket("ws-refuse");
  await backendMocks.routeWebSocket(url, (ws) => void ws.connectToServer());
  const socket = await app.socket(url);
  // The close that follows may be there already.
  expect(kinds(await socket.events(1))[0]).toBe("error");
});

let leftOpen;

test("a test ends and leaves a socket open", async ({ app, backendMocks }) => {
  ours("leaves the sockets of an ended test open and dead");
  const url = freshSocket("nowhere");
  await backendMocks.routeWebSocket(url, () => {});
  leftOpen = { url, socket: await app.socket(url) };
  await leftOpen.socket.events(1);
});

test("the ended test's socket was closed", async () => {
  ours("leaves the sockets of an ended test open and dead");
  const events = await leftOpen.socket.events(2);
  expect(events[1]).toMatchObject({ type: "close", code: 1001, wasClean: true });
  const connection = await socketRow(leftOpen.url, (c) => c.closedAt !== undefined);
  expect(connection.outcome).toBe("matched");
});
