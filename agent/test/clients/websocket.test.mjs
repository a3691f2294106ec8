import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, describe, test } from "node:test";
import { WebSocket as Undici } from "undici7";
import { WebSocket as Ws } from "ws";
import { startTrafficMock } from "../../index.mjs";
import { selfSigned } from "../lib/certificate.mjs";
import { startProxy, until } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

const RELAYED = {
  "ws:messageFromPage": "ws:sendToServer",
  "ws:messageFromServer": "ws:sendToPage",
  "ws:closePage": "ws:closeServer",
  "ws:closeServer": "ws:closePage",
};

/** The classes, as far as this Node has them. */
const CLASSES = {
  ws: () => Ws,
  undici7: () => Undici,
  ...(globalThis.WebSocket && { "globalThis.WebSocket": () => globalThis.WebSocket }),
};

/** What happens to a socket until it is closed; `act` answers its messages, `begin` is called first. */
async function eventsOf(Class, url, act = () => {}, protocols = ["one", "two"], begin = () => {}) {
  const events = [];
  const socket = new Class(url, protocols);
  socket.binaryType = "arraybuffer";
  await new Promise((resolve) => {
    const timer = setTimeout(() => {
      events.push(`no close, state ${socket.readyState}`);
      resolve();
    }, 4000);
    socket.onopen = () => {
      events.push(`open ${socket.protocol}`);
      act(socket, "open");
    };
    socket.onmessage = ({ data }) => {
      const text = typeof data === "string" ? data : `bytes ${Buffer.from(data).toString("hex")}`;
      events.push(text);
      act(socket, text);
    };
    socket.onerror = () => events.push("error");
    socket.onclose = ({ code, reason, wasClean }) => {
      events.push(`close ${code} ${reason}${wasClean ? " clean" : ""}`);
      clearTimeout(timer);
      // Later turns would show an event too many.
      setImmediate(() => setImmediate(resolve));
    };
    begin(socket);
  });
  assert.equal(socket.readyState, 3);
  return events;
}

for (const [name, get] of Object.entries(CLASSES)) {
  describe(`WebSockets of ${name}`, () => {
    let proxy, upstream, worker, agent, base;
    before(async () => {
      proxy = await startProxy();
      upstream = await startUpstream();
      base = upstream.url.replace("http", "ws");
      agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
      worker = await startWorker(proxy.url);
      const relay = (route) => {
        route.onMessage = ({ type, socketId: _socketId, ...rest }) => {
          if (RELAYED[type]) route.say(RELAYED[type], rest);
        };
        route.say("ws:connect");
      };
      await worker.route("relayed", relay, "websocket");
      await worker.route(
        "mocked",
        (route) => {
          route.onMessage = ({ type, data, isBase64 }) => {
            if (type !== "ws:messageFromPage") return;
            if (data === "end") route.say("ws:closePage", { code: 4002, reason: "enough", wasClean: true });
            else route.say("ws:sendToPage", { data, isBase64 });
          };
          route.say("ws:ensureOpened");
        },
        "websocket",
      );
      await worker.route(
        "speaks-first",
        (route) => route.say("ws:sendToPage", { data: "hello", isBase64: false }),
        "websocket",
      );
      await worker.route("undecided", () => {}, "websocket");
      await worker.route("refused", (route) => route.say("ws:closePage", { wasClean: false }), "websocket");
    });
    after(async () => {
      worker.close();
      await agent.stop();
      await upstream.stop();
      await proxy.stop();
    });

    test("a mock opens, echoes text and bytes, and closes with its code", async () => {
      const events = await eventsOf(get(), "ws://nowhere.test/mocked", (socket, event) => {
        if (event.startsWith("open")) socket.send("text é");
        if (event === "text é") socket.send(Uint8Array.from([0, 255, 128]));
        if (event === "bytes 00ff80") socket.send("end");
      });
      assert.deepEqual(events, ["open one", "text é", "bytes 00ff80", "close 4002 enough clean"]);
      // Not every class repeats the reason in its answer.
      await worker.waitFor(
        "ws:closePage",
        ({ code, reason, wasClean }) => code === 4002 && reason === "enough" && wasClean,
      );
    });

    test("a frame of the mock opens the socket", async () => {
      const events = await eventsOf(
        get(),
        "ws://nowhere.test/speaks-first",
        (socket, event) => {
          if (event === "hello") socket.close(4005, "bye");
        },
        [],
      );
      assert.deepEqual(events, ["open ", "hello", "close 4005 bye clean"]);
      await worker.waitFor("ws:closePage", ({ code, wasClean }) => code === 4005 && wasClean);
    });

    test("a relayed socket carries frames and closes both ways", async () => {
      const byServer = await eventsOf(get(), `${base}/ws?relayed`, (socket, event) => {
        if (event === "open") socket.send("hi");
        if (event === "echo hi") socket.send("close me");
      });
      assert.deepEqual(byServer, ["open one", "echo hi", "close 4001 as you wish clean"]);
      const byApp = await eventsOf(get(), `${base}/ws?relayed`, (socket) => socket.close(4006, "app"));
      assert.deepEqual(byApp, ["open one", "close 4006 app clean"]);
      const killed = await eventsOf(get(), `${base}/ws?relayed`, (socket, event) => {
        if (event === "open") socket.send("kill me");
      });
      assert.equal(killed.at(-1), "close 1006 ");
    });

    test("a socket that nobody wants is the real one", async () => {
      const events = await eventsOf(get(), `${base}/ws?plain`, (socket, event) =>
        socket.send(event === "open" ? "hi" : "close me"),
      );
      assert.deepEqual(events, ["open one", "echo hi", "close 4001 as you wish clean"]);
      await until(proxy, "/api/ws", ({ connections }) =>
        connections.some(({ url, outcome }) => url.endsWith("?plain") && outcome === "passthrough"),
      );
    });

    test("a server that is not there is an error and a close", async () => {
      assert.deepEqual(await eventsOf(get(), "ws://127.0.0.1:2/relayed"), ["error", "close 1006 "]);
      await worker.waitFor("ws:closeServer", ({ code, wasClean }) => code === 1006 && !wasClean);
    });

    test("a handshake that the mock refuses is an error and a close", async () => {
      assert.deepEqual(await eventsOf(get(), "ws://nowhere.test/refused"), ["error", "close 1006 "]);
    });

    // As without the agent, undici 7's class by import goes back to CLOSING after its 'close'.
    test(
      "a socket that is closed while it is held gets one error and its close",
      { skip: name === "undici7" },
      async () => {
        const url = `ws://nowhere.test/undecided-${name}`;
        const held = worker.waitFor("ws:matched", (message) => message.url === url);
        const events = await eventsOf(get(), url, undefined, [], (socket) => {
          void held.then(() => socket.close(3001, "changed my mind"));
        });
        assert.deepEqual(events, ["error", "close 1006 "]);
        const { socketId } = await held;
        await worker.waitFor(
          "ws:closePage",
          (message) => message.socketId === socketId && message.code === 1006 && !message.wasClean,
        );
      },
    );

    test(
      "a socket that is closed before anybody is asked gets one error and its close",
      { skip: name === "undici7" },
      async () => {
        const events = await eventsOf(get(), "ws://nowhere.test/undecided", undefined, [], (socket) => socket.close());
        assert.deepEqual(events, ["error", "close 1006 "]);
      },
    );

    test(
      "a real socket that is closed while it is connecting gets one error and its close",
      { skip: name === "undici7" },
      async () => {
        const silent = createServer().listen(0, "127.0.0.1");
        await once(silent, "listening");
        const connected = once(silent, "connection");
        const events = await eventsOf(get(), `ws://127.0.0.1:${silent.address().port}`, undefined, [], (socket) => {
          void connected.then(() => socket.close());
        });
        assert.deepEqual(events, ["error", "close 1006 "]);
        const [connection] = await connected;
        connection.destroy();
        silent.close();
      },
    );

    test("two tests that want it fail the socket", async () => {
      const other = await startWorker(proxy.url);
      await other.route("mocked", () => {}, "websocket");
      assert.deepEqual(await eventsOf(get(), "ws://nowhere.test/mocked"), ["error", "close 1006 "]);
      other.close();
      await until(proxy, "/api/connections", ({ runnerWorkers }) => runnerWorkers.length === 1);
    });

    test("a lost worker ends an open mock", async () => {
      const other = await startWorker(proxy.url);
      await other.route("short-lived", (route) => route.say("ws:ensureOpened"), "websocket");
      const events = await eventsOf(get(), "ws://nowhere.test/short-lived", () => other.close());
      assert.equal(events[0], "open one");
      assert.match(events.at(-1), /^close /);
    });
  });
}

test("over TLS, the application's own options hold, and with the option global npm ws is left alone", async () => {
  const proxy = await startProxy();
  const upstream = await startUpstream();
  const tls = selfSigned();
  const secure = await startUpstream(tls);
  const worker = await startWorker(proxy.url);
  await worker.route(
    "relayed",
    (route) => {
      route.onMessage = ({ type, socketId: _socketId, requestId: _requestId, ...rest }) => {
        if (RELAYED[type]) route.say(RELAYED[type], rest);
      };
      route.say("ws:connect");
    },
    "websocket",
  );
  const { Agent, WebSocket: Undici } = await import("undici7");
  const dispatcher = new Agent({ connect: { ca: tls.cert } });
  const both = await startTrafficMock({ proxyUrl: proxy.url });
  const talk = (socket, event) => {
    if (event.startsWith("open")) socket.send("hi");
    else socket.close(4001, "as you wish");
  };
  const base = `${secure.url.replace("https", "wss")}/ws`;
  class OwnWs extends Ws {
    constructor(url) {
      super(url, [], { ca: tls.cert });
    }
  }
  class OwnUndici extends Undici {
    constructor(url) {
      super(url, { dispatcher });
    }
  }
  for (const Class of [OwnWs, OwnUndici]) {
    for (const kind of ["plain", "relayed"]) {
      assert.deepEqual(await eventsOf(Class, `${base}?${kind}`, talk), [
        "open ",
        "echo hi",
        "close 4001 as you wish clean",
      ]);
    }
  }
  assert.deepEqual(await eventsOf(Ws, `${base}?relayed`), ["error", "close 1006 "]);
  const { connections } = await proxy.get("/api/ws");
  assert.equal(connections.length, 5);
  await both.stop();
  const agent = await startTrafficMock({ proxyUrl: proxy.url, webSocket: "global" });
  const events = await eventsOf(Ws, `${upstream.url.replace("http", "ws")}/ws`, (socket, event) =>
    socket.send(event === "open" ? "hi" : "close me"),
  );
  assert.deepEqual(events, ["open one", "echo hi", "close 4001 as you wish clean"]);
  assert.equal((await proxy.get("/api/ws")).connections.length, connections.length);
  worker.close();
  await agent.stop();
  await secure.stop();
  await upstream.stop();
  await proxy.stop();
});
