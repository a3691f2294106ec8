import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { WebSocket as Ws } from "ws";
import { startTrafficMock } from "../../index.mjs";
import { IMPORT, REQUIRE, runNode } from "../lib/child.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

const URL = "ws://nowhere.test/mocked";
/** Reports what is there first, and what a socket of the class put there and one of npm `ws` by import see. */
const APP = `
  const Ws = require('ws')
  const first = [typeof WebSocket, Object.keys(globalThis).includes('WebSocket')]
  globalThis.WebSocket = Ws
  const told = (Class) => new Promise((resolve) => {
    const socket = new Class('${URL}')
    socket.onmessage = ({ data }) => { resolve([data, socket instanceof Ws, socket instanceof WebSocket]); socket.close() }
    socket.onerror = ({ message }) => resolve(message)
  })
  Promise.all([told(WebSocket), told(class extends WebSocket {}), told(Ws)])
    .then((all) => { console.log(JSON.stringify([first, ...all])); process.exit() })`;

const messageOf = (Class) =>
  new Promise((resolve, reject) => {
    const socket = new Class(URL);
    socket.onmessage = ({ data }) => {
      resolve(data);
      socket.close();
    };
    socket.onerror = ({ message }) => reject(new Error(message));
  });

describe("a class that the application puts at globalThis.WebSocket", () => {
  let proxy, worker;
  before(async () => {
    proxy = await startProxy();
    worker = await startWorker(proxy.url);
    await worker.route(
      "mocked",
      (route) => route.say("ws:sendToPage", { data: "hello", isBase64: false }),
      "websocket",
    );
  });
  after(async () => {
    worker.close();
    await proxy.stop();
  });

  for (const [name, preload] of Object.entries({ "--require": REQUIRE, "--import": IMPORT })) {
    test(`is seen under ${name}, and so is npm ws by import`, async () => {
      const { stdout, stderr } = await runNode(APP, { preload, env: { TRAFFICMOCK_PROXY_URL: proxy.url } });
      const [, ...all] = JSON.parse(stdout || JSON.stringify(stderr));
      assert.deepEqual(
        all.map(([data]) => data),
        ["hello", "hello", "hello"],
      );
    });

    test(`is seen under ${name} by TRAFFICMOCK_WEBSOCKET=global, and npm ws by import is left alone`, async () => {
      const env = { TRAFFICMOCK_PROXY_URL: proxy.url, TRAFFICMOCK_WEBSOCKET: "global" };
      const { stdout, stderr } = await runNode(APP, { preload, env });
      const [first, assigned, derived, byImport] = JSON.parse(stdout || JSON.stringify(stderr));
      assert.deepEqual(first, [typeof globalThis.WebSocket, false]);
      assert.deepEqual(assigned, ["hello", true, true]);
      assert.deepEqual(derived, ["hello", true, true]);
      assert.match(byImport, /ENOTFOUND|EAI_AGAIN/);
    });
  }

  test("is seen after a call, whether it is there before or after it, and is as it was after stop()", async () => {
    const descriptor = Object.getOwnPropertyDescriptor(globalThis, "WebSocket");
    const native = globalThis.WebSocket;
    try {
      let agent = await startTrafficMock({ proxyUrl: proxy.url });
      await agent.stop();
      assert.equal(Object.hasOwn(globalThis, "WebSocket"), Boolean(descriptor));
      assert.equal(globalThis.WebSocket, native);
      globalThis.WebSocket = Ws;
      agent = await startTrafficMock({ proxyUrl: proxy.url, webSocket: "global" });
      assert.equal(await messageOf(globalThis.WebSocket), "hello");
      await assert.rejects(messageOf(Ws), /ENOTFOUND|EAI_AGAIN/);
      class Own extends Ws {}
      globalThis.WebSocket = Own;
      assert.equal(await messageOf(globalThis.WebSocket), "hello");
      const again = globalThis.WebSocket;
      globalThis.WebSocket = again;
      assert.equal(globalThis.WebSocket, again);
      await agent.stop();
      assert.equal(globalThis.WebSocket, Own);
    } finally {
      if (descriptor) Object.defineProperty(globalThis, "WebSocket", descriptor);
      else delete globalThis.WebSocket;
    }
  });
});
