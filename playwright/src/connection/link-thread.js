"use strict";

const { parentPort, workerData } = require("node:worker_threads");
const { Link } = require("trafficmock-agent/protocol/link");

/**
 * Runs in a thread of its own: the connection to the proxy. It answers pings
 * while the test stands at a breakpoint, so that the proxy does not take the
 * test for dead.
 *
 * To the main thread come `{ up }`, with the proxy's `hello:ok`, `{ down }`, with the
 * reason, and each message as text. From it come messages as text, and `null` for the end.
 */

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
const link = new Link(
  { ...workerData, open: (_, act) => act() },
  {
    up: (hello) => port.postMessage({ up: hello }),
    message: (text) => port.postMessage(text),
    down(error) {
      // A worker's tests end with its connection (protocol 3), so no other is opened.
      link.close();
      port.postMessage({ down: error.message });
      port.close();
    },
  },
);

port.on("message", (text) => {
  if (text !== null) return link.sendText(text);
  link.close();
  port.close();
});
link.open();
