/* Events of a connection that the application opens while a request is handled. */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import http from "node:http";
import { createRequire } from "node:module";
import net from "node:net";
import { after, before, describe, test } from "node:test";

const require = createRequire(import.meta.url);
const { hookConnections } = require("../../src/contexts/connections.js");
const { TestContexts } = require("../../src/contexts/test-contexts.js");

describe("the events of a connection", () => {
  const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
  const { connect } = net.Socket.prototype;
  let undo;
  let server;

  before(async () => {
    undo = hookConnections(contexts);
    server = net.createServer((socket) => socket.on("error", () => {}).pipe(socket)).listen(0, "127.0.0.1");
    await once(server, "listening");
  });

  after(() => {
    server.close();
    undo();
    assert.equal(net.Socket.prototype.connect, connect);
  });

  const request = (name, act) => {
    const [req, response] = [new EventEmitter(), new EventEmitter()];
    req.headers = { baggage: `trafficmock.test=${name.repeat(32)}` };
    return { given: contexts.enter(req, req.headers, response, act), end: () => response.emit("close") };
  };
  const whose = () => contexts.current()?.id[0] ?? "nobody";
  const open = () => net.connect(server.address().port, "127.0.0.1");
  /** Whose the event of the echo of what is written is. */
  const echo = (socket) =>
    new Promise((resolve) => {
      socket.once("data", () => resolve(whose()));
      socket.write("x");
    });

  test("are of the request that opened it, while only that one uses it", async () => {
    const { given: socket, end } = request("a", open);
    assert.equal(await request("a", () => echo(socket)).given, "a");
    assert.deepEqual(Object.keys(socket).includes("emit"), false);
    end();
    socket.destroy();
  });

  test("are nobody's once that request is over, and say so", async () => {
    const { given: socket, end } = request("a", open);
    end();
    assert.equal(await request("a", () => echo(socket)).given, "nobody");
    socket.once("data", () => socket.emit("origin", contexts.originOf(undefined, open).toWire()));
    socket.write("x");
    const [{ kind }] = await once(socket, "origin");
    assert.equal(kind, "connection");
    socket.destroy();
  });

  test("are nobody's once another one uses it, too", async () => {
    const { given: socket } = request("a", open);
    assert.equal(await request("b", () => echo(socket)).given, "nobody");
    assert.equal(await request("a", () => echo(socket)).given, "nobody");
    socket.destroy();
  });

  test("are of the work after a request that opened one for itself", async () => {
    let go;
    const { given, end } = request("a", async () => {
      await new Promise((resolve) => {
        go = resolve;
      });
      const socket = open();
      const found = await echo(socket);
      socket.destroy();
      return found;
    });
    end();
    go();
    assert.equal(await given, "a");
  });

  test("leave the answers of node:http in their own contexts", async (t) => {
    const answering = http.createServer((_, res) => res.end("x")).listen(0, "127.0.0.1");
    await once(answering, "listening");
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => (agent.destroy(), answering.close()));
    const get = () =>
      new Promise((resolve, reject) => {
        const found = [];
        http
          .get({ port: answering.address().port, host: "127.0.0.1", agent }, (response) => {
            found.push(whose());
            response.on("data", () => found.push(whose())).on("end", () => resolve([...found, whose()].join("")));
          })
          .on("error", reject);
      });
    const first = request("a", get);
    assert.equal(await first.given, "aaa");
    first.end();
    assert.deepEqual(await Promise.all([..."bc"].map((name) => request(name, get).given)), ["bbb", "ccc"]);
  });
});
