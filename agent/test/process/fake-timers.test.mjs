import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { runNode } from "../lib/child.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

/** What test runners' fake timers do to the globals: nothing runs until the test says so. */
const FAKE = `for (const name of ['setTimeout', 'setInterval', 'setImmediate']) globalThis[name] = () => ({ unref () { return this }, hasRef: () => false })
  globalThis.clearTimeout = globalThis.clearInterval = globalThis.clearImmediate = () => {}
  const said = (text) => console.log(String(text))`;

const HTTP = (then) => `${FAKE}
  const req = require('node:http').request('http://nowhere.test/PATH', { method: 'POST', OPTIONS })
  ${then}`;
const ANSWERED = 'req.on("response", (res) => res.on("data", said)).on("error", said)';

const APPLICATIONS = {
  "a body that is there at once": [HTTP(`${ANSWERED}.end('body')`), "mocked"],
  "an idle timeout": [
    HTTP('req.on("timeout", () => { said("timed out"); req.destroy() }).on("error", () => {}).end()')
      .replace("PATH", "held")
      .replace("OPTIONS", "timeout: 50"),
    "timed out",
  ],
  "the timeout of a socket": [
    HTTP(
      'req.on("socket", (socket) => socket.setTimeout(50, () => { said("timed out"); req.destroy() })).on("error", () => {}).end()',
    ).replace("PATH", "held"),
    "timed out",
  ],
  "a WebSocket": [
    `${FAKE}
    const socket = new (require('ws').WebSocket)('ws://nowhere.test/socket')
    socket.on('message', (data) => { said(data); socket.terminate() }).on('error', said).on('close', said)`,
    "hello\n1006",
  ],
};

describe("under fake timers", () => {
  let proxy, worker;
  before(async () => {
    proxy = await startProxy();
    worker = await startWorker(proxy.url);
    await worker.route("/mocked", (r) => r.text("mocked"));
    await worker.route("/held", () => {});
    await worker.route(
      "/socket",
      ({ say }) => {
        say("ws:ensureOpened");
        say("ws:sendToPage", { data: "hello", isBase64: false });
      },
      "websocket",
    );
  });
  after(async () => {
    worker.close();
    await proxy.stop();
  });

  for (const [name, [code, wanted]] of Object.entries(APPLICATIONS)) {
    test(name, async () => {
      const { stdout, stderr, status } = await runNode(code.replace("PATH", "mocked").replace("OPTIONS", ""), {
        env: { TRAFFICMOCK_PROXY_URL: proxy.url, TRAFFICMOCK_WEBSOCKET: "all" },
        ms: 4000,
      });
      assert.equal(stdout.trim(), wanted, stderr);
      assert.equal(status, 0);
    });
  }
});
