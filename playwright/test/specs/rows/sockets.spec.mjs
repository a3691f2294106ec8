/** `routeWebSocket`: the test plays the server, or sits between. */
import { errorOf, expect, test } from "../../lib/row.mjs";

/** A handler that does not connect opens the socket and answers its frames in order. */
test("sockets_mocked", async ({ t, trafficmock }) => {
  const url = t.socketUrl("mock");
  const seen = [];
  await trafficmock.routeWebSocket(url, (ws) => {
    seen.push([ws.url(), ws.protocols()]);
    ws.onMessage(() => ws.send("only the latest function counts"));
    ws.onMessage((message) =>
      ws.send(typeof message === "string" ? `re ${message}` : Buffer.concat([message, Buffer.from("!")])),
    );
  });
  const socket = await t.openSocket(url, { protocols: ["one", "two"] });
  for (const text of ["0", "1", "2", "3", "4"]) await socket.send(text);
  await socket.send(Buffer.from("a"));
  const [opened, ...messages] = await socket.events(7);
  expect(seen).toEqual([[url, ["one", "two"]]]);
  expect(opened).toEqual({ type: "open", protocol: "one" });
  expect(messages.slice(0, 5).map(({ data }) => data)).toEqual(["re 0", "re 1", "re 2", "re 3", "re 4"]);
  expect(messages[5].base64).toBe("YSE=");
});

/** A handler for another application's WebSockets is not asked, though it is newer. */
test("sockets_one_application", async ({ t, trafficmock }) => {
  const url = t.socketUrl("mock");
  await trafficmock.routeWebSocket({ url, clientId: ["app", "b"] }, (ws) => ws.send("ours"));
  await trafficmock.routeWebSocket({ url, clientId: "another app" }, (ws) => ws.send("another's"));
  const socket = await t.openSocket(url);
  expect((await socket.events(2))[1].data).toBe("ours");
});

/** A connected socket passes frames both ways where no handler is set. */
test("sockets_relayed", async ({ t, trafficmock }) => {
  const url = t.socketUrl("ws-echo");
  await trafficmock.routeWebSocket(url, (ws) => {
    const server = ws.connectToServer();
    server.onMessage((message) => ws.send(message.toUpperCase()));
  });
  const socket = await t.openSocket(url);
  await socket.send("hello");
  expect((await socket.events(2))[1].data).toBe("ECHO HELLO");
});

/** While its handler is busy a socket is not open, until the handler sends something. */
test("sockets_opens_early", async ({ t, trafficmock }) => {
  const url = t.socketUrl("mock");
  const [before, after] = [Promise.withResolvers(), Promise.withResolvers()];
  await trafficmock.routeWebSocket(url, async (ws) => {
    await before.promise;
    ws.send("early");
    await after.promise;
  });
  const socket = await t.socket(url);
  await t.get(t.url("echo"));
  expect(await socket.events(0)).toEqual([]);
  before.resolve();
  expect((await socket.events(2)).map(({ type }) => type)).toEqual(["open", "message"]);
  after.resolve();
});

/** Connecting twice, or on the server's side, is an error. */
test("sockets_connects_once", async ({ t, trafficmock }) => {
  const url = t.socketUrl("ws-echo");
  const errors = [];
  await trafficmock.routeWebSocket(url, async (ws) => {
    const server = ws.connectToServer();
    for (const each of [ws, server]) errors.push(await errorOf(() => each.connectToServer()));
  });
  await t.openSocket(url);
  await t.until(() => errors.length === 2);
  expect(errors.map(({ name }) => name)).toEqual(["UsageError", "UsageError"]);
  expect(errors[0].message).toMatch(/already connected/i);
  expect(errors[1].message).toContain("connectToServer must be called on the page-side");
});

/** A handler closes the socket with code and reason; later sends do not throw. */
test("sockets_closed_by_the_handler", async ({ t, trafficmock }) => {
  const url = t.socketUrl("mock");
  await trafficmock.routeWebSocket(url, (ws) => {
    ws.onMessage(async (reason) => {
      await ws.close({ code: 3001, reason });
      ws.send("too late");
    });
  });
  const socket = await t.openSocket(url);
  await socket.send("bye");
  expect((await socket.events(2)).at(-1)).toMatchObject({ type: "close", code: 3001, reason: "bye" });
});

/** The application's close comes to the handler, once. */
test("sockets_closed_by_the_page", async ({ t, trafficmock }) => {
  const url = t.socketUrl("mock");
  const closes = [];
  await trafficmock.routeWebSocket(url, (ws) => ws.onClose((code, reason) => closes.push([code, reason])));
  const socket = await t.openSocket(url);
  await socket.close(3002, "done");
  await t.until(() => closes.length > 0);
  expect(closes).toEqual([[3002, "done"]]);
});

/** The real server's close is passed on to the application. */
test("sockets_closed_by_the_server", async ({ t, trafficmock }) => {
  const url = t.socketUrl("ws-echo");
  await trafficmock.routeWebSocket(url, (ws) => {
    ws.connectToServer();
  });
  const socket = await t.openSocket(url);
  await socket.send("close:3003:server");
  expect((await socket.events(2)).at(-1)).toMatchObject({ type: "close", code: 3003 });
});

/** Only the newest matching handler runs; it survives `unrouteAll`. */
test("sockets_newest_only", async ({ t, trafficmock }) => {
  const url = t.socketUrl("mock");
  const ran = [];
  await trafficmock.routeWebSocket(url, () => void ran.push("old"));
  await trafficmock.routeWebSocket(
    ({ href }) => href.includes(t.base),
    () => void ran.push("new"),
  );
  await trafficmock.unrouteAll();
  await t.openSocket(url);
  expect(ran).toEqual(["new"]);
});

/** A handler that throws closes the socket and fails the test; nothing stalls. */
test("sockets_handler_raises", async ({ t, trafficmock }) => {
  const url = t.socketUrl("mock");
  await trafficmock.routeWebSocket(url, () => {
    throw new Error("in the socket");
  });
  const socket = await t.openSocket(url);
  await expect.poll(async () => (await socket.events(1)).at(-1).type).toBe("close");
  const [error, ...others] = trafficmock.takeErrors();
  expect(others).toEqual([]);
  expect(error.message).toContain("in the socket");
});

/** Sockets that nobody routes go to their server. */
test("sockets_not_matched", async ({ t, trafficmock }) => {
  await trafficmock.routeWebSocket("**/other", () => {
    throw new Error("nobody asked for this one");
  });
  const socket = await t.openSocket(t.socketUrl("ws-echo"));
  await socket.send("hello");
  expect((await socket.events(2))[1].data).toBe("echo hello");
});
