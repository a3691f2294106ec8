"use strict";

const { workerData } = require("node:worker_threads");
const { Link } = require("trafficmock-agent/protocol/link");

/**
 * The program of a thread with a second connection to the proxy. It answers pings while the main thread is stopped at
 * a breakpoint, so that the proxy does not regard the test as stopped.
 */
const link = new Link(
  { ...workerData, open: (_, act) => act() },
  {
    up() {},
    message() {},
    down() {
      // This connection belongs to the main one, which has ended as well or answers pings itself.
      link.close();
    },
  },
);

link.hold();
link.open();
