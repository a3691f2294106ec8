"use strict";

const { workerData } = require("node:worker_threads");
const { Link } = require("trafficmock-agent/protocol/link");

/**
 * Runs in a thread of its own: the second connection to the proxy. It answers pings while the test stands at a
 * breakpoint and nothing of the main thread runs, so that the proxy does not regard the test as stopped.
 */
const link = new Link(
  { ...workerData, open: (_, act) => act() },
  {
    up() {},
    message() {},
    down() {
      // It belongs to one connection, which has ended as well or now has to answer for itself.
      link.close();
    },
  },
);

link.hold();
link.open();
