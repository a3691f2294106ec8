/* How a worker leaves the proxy, and what it does when it is lost. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createRequire } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const { WebSocketServer } = createRequire(require.resolve("trafficmock-agent/protocol/link"))("ws");
const { version } = require("../package.json");
const { WorkerConnection } = require("../src/connection/worker-connection.js");

/** Answer what a worker says, as a proxy does. */
function answer(socket, { type, queryId, features }) {
  const answers = {
    hello: { type: "hello:ok", connectionId: "c1", protocolVersion: 3, features },
    "run:strict": { type: "run:stricted", queryId },
    "run:unmatched:query": { type: "run:unmatched", queryId, requests: [], dropped: 0 },
  };
  socket.send(JSON.stringify(answers[type]));
}

test("a strict run goes on after its worker: another may follow", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const proxyUrl = `http://127.0.0.1:${server.address().port}`;
  for (const [isStrict, expected] of [
    [false, 1000],
    [true, 1006],
  ]) {
    const connected = once(server, "connection");
    const opening = WorkerConnection.open({ proxyUrl });
    const [socket] = await connected;
    socket.on("message", (data) => answer(socket, JSON.parse(data)));
    const connection = await opening;
    if (isStrict) await connection.refuseUnowned([]);
    const closed = once(socket, "close");
    connection.close();
    const [code] = await closed;
    assert.equal(code, expected);
  }
  server.close();
});

test("a connection that is lost stays lost, also in a strict run", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const proxyUrl = `http://127.0.0.1:${server.address().port}`;
  server.on("connection", (socket) => socket.on("message", (data) => answer(socket, JSON.parse(data))));
  for (const isStrict of [false, true]) {
    const connection = await WorkerConnection.open({ proxyUrl });
    if (isStrict) await connection.refuseUnowned(["auth.example"]);
    for (const socket of server.clients) socket.terminate();
    await assert.rejects(connection.unmatched(), /Lost connection/);
    assert.equal(connection.link.closed, true);
    connection.close();
  }
  server.close();
});

test("another proxy, or an older one, is refused", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  server.on("connection", (socket) => {
    socket.on("message", (data) => {
      const { features } = JSON.parse(data);
      const known = features.filter((name) => name !== "chain");
      const hello = {
        type: "hello:ok",
        connectionId: "c1",
        protocolVersion: 3,
        packageVersion: "1.2.3",
        features: known,
      };
      socket.send(JSON.stringify(hello));
    });
  });
  const proxyUrl = `http://127.0.0.1:${server.address().port}`;
  await assert.rejects(WorkerConnection.open({ proxyUrl }), {
    name: "ConnectionError",
    message:
      `What answers at ${proxyUrl} is another proxy than trafficmock, or an older one (version 1.2.3): it lacks chain, ` +
      `which this test worker needs. Start trafficmock ${version} there ("trafficmock serve").`,
  });
  server.close();
});
