"use strict";

const { Worker } = require("node:worker_threads");

/** The thread that answers the proxy's pings while the main thread cannot. */
class Liveness {
  /**
   * @param {string} proxyUrl
   * @param {{ role: string, features: readonly string[], livenessOf: string, [key: string]: unknown }} hello
   */
  constructor(proxyUrl, hello) {
    this.thread = new Worker(require.resolve("./liveness-thread.js"), {
      workerData: { proxyUrl, hello },
      // This thread does not need the preloads and flags of the test runner.
      execArgv: [],
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    this.thread.unref();
    this.thread.on("error", (error) => {
      process.emitWarning(`tests that stand at a breakpoint lose their requests: ${error.message}`, "trafficmock");
    });
  }

  /** End the thread, and with it its connection. */
  end() {
    return this.thread.terminate();
  }
}

module.exports = { Liveness };
