"use strict";

const { randomUUID } = require("node:crypto");
const { MessageChannel, Worker, receiveMessageOnPort } = require("node:worker_threads");
const { version } = require("../../package.json");
const { ackTimeoutMs, addedSecrets } = require("../settings.js");

/**
 * Let the proxy remove the secrets of a text, which has the whole rule. The thread waits for it: a reporter cannot await an
 * answer before the reporters after it get the result of a test.
 *
 * @param {string} text
 * @param {{ proxyUrl: string, token?: string }} proxy
 * @returns {string} with marks, or why it cannot be shown
 */
function redactedText(text, { proxyUrl, token }) {
  const redact = addedSecrets();
  if (redact.includes("off")) return text;
  const { port1, port2 } = new MessageChannel();
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const hello = { packageVersion: version, role: "playwright", clientId: "playwright-reporter", workerId: "reporter" };
  const thread = new Worker(require.resolve("./redaction-thread.js"), {
    workerData: {
      ...{ proxyUrl, signal, port: port2 },
      hello: { ...hello, ...(token && { token }), features: ["chain"], pid: process.pid },
      query: { type: "redact:query", queryId: randomUUID(), texts: [text], redact },
    },
    transferList: [port2],
    // This thread does not need the preloads and flags of the test runner.
    execArgv: [],
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  thread.unref();
  thread.on("error", () => {});
  Atomics.wait(signal, 0, 0, ackTimeoutMs());
  const { texts, error = "it did not answer" } = receiveMessageOnPort(port1)?.message ?? {};
  port1.close();
  thread.terminate();
  return texts?.length ? texts[0] : `(the proxy could not remove its secrets: ${error})`;
}

module.exports = { redactedText };
