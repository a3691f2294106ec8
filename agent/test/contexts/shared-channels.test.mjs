/* Events of what requests of several tests have given something to. */
import assert from "node:assert/strict";
import { fork, spawn } from "node:child_process";
import dgram from "node:dgram";
import { EventEmitter, once } from "node:events";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";

const require = createRequire(import.meta.url);
const { hookSharedChannels } = require("../../src/contexts/shared-channels.js");
const { TestContexts } = require("../../src/contexts/test-contexts.js");

const ECHO =
  "const { parentPort: port } = require('node:worker_threads'); port.on('message', (m) => port.postMessage(m))";

/** What answers with what it is given: each calls a function with an answer, and returns how to give, and how to stop. */
const CHANNELS = {
  "a child process": (answered) => {
    const child = spawn("cat");
    child.stdout.on("data", answered);
    return { give: (text) => child.stdin.write(text), stop: () => child.kill() };
  },
  "messages of a child process": (answered) => {
    const child = fork("", { execArgv: ["--eval", "process.on('message', (m) => process.send(m))"] });
    child.on("message", answered);
    return { give: (text) => child.send(text), stop: () => child.kill() };
  },
  "a UDP socket": (answered) => {
    const socket = dgram.createSocket("udp4", answered);
    socket.bind(0, "127.0.0.1");
    const give = async (text) => {
      const address = () => socket.address().port;
      try {
        address();
      } catch {
        await once(socket, "listening");
      }
      socket.send(text, address(), "127.0.0.1");
    };
    return { give, stop: () => socket.close() };
  },
  "a worker thread": (answered) => {
    const worker = new Worker(ECHO, { eval: true });
    worker.on("message", answered);
    return { give: (text) => worker.postMessage(text), stop: () => worker.terminate() };
  },
};

describe("what answers by events", () => {
  for (const [name, make] of Object.entries(CHANNELS)) {
    test(`has the test that made it, until another one uses it: ${name}`, async (t) => {
      const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });
      t.after(contexts.hookServers());
      t.after(hookSharedChannels(contexts));
      const bus = new EventEmitter();
      const request = (id, act) => {
        const [req, response] = [new EventEmitter(), new EventEmitter()];
        return contexts.enter(req, { baggage: `trafficmock.test=${id.repeat(32)}` }, response, act);
      };
      const found = [];
      const answered = () => {
        found.push(contexts.current()?.id[0] ?? "nobody");
        bus.emit("answer");
      };
      const channel = request("a", () => make(answered));
      t.after(channel.stop);
      for (const id of "aaba") {
        const answer = once(bus, "answer");
        void request(id, () => channel.give(id));
        await answer;
      }
      assert.deepEqual(found, ["a", "a", "nobody", "nobody"]);
    });
  }
});
