import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { runNode } from "../lib/child.mjs";
import { HELLO_OK, startFakeProxy } from "../lib/fake-proxy.mjs";

const { commandLine } = createRequire(import.meta.url)("../../src/process/command-line.js");

test("the handshake names the process and its command line", async () => {
  const proxy = await startFakeProxy(HELLO_OK);
  const { stdout } = await runNode(
    `
    const { startTrafficMock } = require('trafficmock-agent')
    startTrafficMock().then((agent) => agent.stop()).then(() => console.log(JSON.stringify([process.pid, process.argv[0]])))
  `,
    { env: { TRAFFICMOCK_PROXY_URL: proxy.url }, preload: "" },
  );
  const [pid, node] = JSON.parse(stdout);
  const hello = proxy.seen.find(({ type }) => type === "hello");
  assert.equal(hello.pid, pid);
  assert.equal(hello.command, node);
  await proxy.stop();
});

test("a command line can be pasted into a shell", () => {
  assert.equal(commandLine(["/usr/bin/node", "server.js", "--port=80"]), "/usr/bin/node server.js --port=80");
  assert.equal(commandLine(["node", "a b", "it's", ""]), "node 'a b' 'it'\\''s' ''");
});

test("a long command line is cut, and stays text", () => {
  const long = commandLine(["x".repeat(998) + "\u{1f600}".repeat(2)]);
  assert.equal(long, `'${"x".repeat(998)}\u{1f600}`);
});
