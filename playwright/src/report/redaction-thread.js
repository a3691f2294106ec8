"use strict";

const { workerData } = require("node:worker_threads");
const { Link } = require("trafficmock-agent/protocol/link");

/** The program of a thread that asks the proxy to remove the secrets of a text, while the main thread waits. */
const { proxyUrl, hello, query, port, signal } = workerData;

/** @param {{ texts?: string[], error?: string }} answer of the proxy, or why there is none */
function tell(answer) {
  port.postMessage(answer);
  Atomics.store(signal, 0, 1);
  Atomics.notify(signal, 0);
  link.close();
}

const link = new Link(
  { proxyUrl, hello, open: (_, act) => act() },
  {
    up: () => link.send(query),
    message(text) {
      const message = JSON.parse(text);
      if (message.queryId === query.queryId) tell(message);
    },
    down: ({ message }) => tell({ error: message }),
  },
);

link.hold();
link.open();
