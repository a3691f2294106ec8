import { agent, expect, freshSocket, ours, socketRow, test } from "../../lib/fixtures.mjs";

const closeOf = (events) => events.find((event) => event.type === "close");
const closed = (connection) => connection.close !== undefined;

function noted() {
  let note;
  const seen = new Promise((resolve) => (note = (code, reason) => resolve({ code, reason })));
  return { note, seen };
}

test("the app closes a mock: the handler learns code and reason", async ({ app, backendMocks }) => {
  const url = freshSocket("nowhere");
  const { note, seen } = noted();
  await backendMocks.routeWebSocket(url, (ws) => ws.onClose(note));
  const socket = await app.socket(url);
  await socket.events(1);
  await socket.close(4001, "app is done");
  expect(await seen).toEqual({ code: 4001, reason: "app is done" });
});

test("the handler closes a mock: the app learns code and reason", async ({ app, backendMocks }) => {
  const url = freshSocket("nowhere");
  await backendMocks.routeWebSocket(url, (ws) => {
    ws.onMessage(() => ws.close({ code: 4003, reason: "mock is done" }));
  });
  const socket = await app.socket(url);
  await socket.events(1);
  await socket.send("go");
  const event = closeOf(await socket.events(2));
  expect(event).toEqual({ type: "close", code: 4003, reason: "mock is done", wasClean: true });
  const connection = await socketRow(url, closed);
  expect(connection.close).toMatchObject({ code: 4003, reason: "mock is done", wasClean: true });
});

test("the app closes a relayed socket: the server side is closed as well", async ({ app, backendMocks }) => {
  const url = freshSocket("ws-echo");
  await backendMocks.routeWebSocket(url, (ws) => void ws.connectToServer());
  const socket = await app.socket(url);
  await socket.events(1);
  await socket.close(4004, "bye");
  const event = closeOf(await socket.events(2));
  expect(event).toMatchObject({ code: 4004, reason: "bye" });
  expect((await socketRow(url, closed)).outcome).toBe("matched");
});

test("the server closes a relayed socket: the app learns code and reason", async ({ app, backendMocks }) => {
  const url = freshSocket("ws-echo");
  await backendMocks.routeWebSocket(url, (ws) => void ws.connectToServer());
  const socket = await app.socket(url);
  await socket.events(1);
  await socket.send("close:4005:server is done");
  const event = closeOf(await socket.events(2));
  expect(event).toMatchObject({ code: 4005, reason: "server is done" });
});

test("a handler on the server's close decides what the app learns", async ({ app, backendMocks }) => {
  const url = freshSocket("ws-echo");
  await backendMocks.routeWebSocket(url, (ws) => {
    const server = ws.connectToServer();
    server.onClose((code) => ws.close({ code: 4100, reason: `was ${code}` }));
  });
  const socket = await app.socket(url);
  await socket.events(1);
  await socket.send("close:4006:hidden");
  expect(closeOf(await socket.events(2))).toMatchObject({ code: 4100, reason: "was 4006" });
});

test("closing a held socket gives the app its close", async ({ app, backendMocks }) => {
  const url = freshSocket("nowhere");
  await backendMocks.routeWebSocket(url, (ws) => ws.close({ code: 4007, reason: "refused" }));
  const socket = await app.socket(url);
  // With our agent as with a server, which can give a code only once the socket is open.
  const before = agent === "ours" ? [{ type: "open", protocol: "" }] : [];
  const events = await socket.events(before.length + 1);
  expect(events).toEqual([...before, { type: "close", code: 4007, reason: "refused", wasClean: true }]);
});

test("history keeps one close for each side", async ({ app, backendMocks }) => {
  ours("records each close 4 to 8 times");
  const url = freshSocket("ws-echo");
  const { note, seen } = noted();
  await backendMocks.routeWebSocket(url, (ws) => {
    const server = ws.connectToServer();
    server.onClose(note);
    ws.onClose((code, reason) => server.close({ code, reason }));
  });
  const socket = await app.socket(url);
  await socket.events(1);
  await socket.close(4008, "once");
  await socket.events(2);
  await seen;
  const closes = (connection) => connection.events.filter((event) => event.kind === "close");
  const connection = await socketRow(url, (each) => closes(each).length >= 2);
  const sides = closes(connection).map((event) => /page|server/.exec(event.detail)?.[0]);
  expect(sides.sort()).toEqual(["page", "server"]);
});
