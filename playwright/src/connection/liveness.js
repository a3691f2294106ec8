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
      // The preloads and flags of the test runner are not for this thread.
      execArgv: [],
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    this.thread.unref();
    this.thread.on("error", (error) => {
      process.emitWarning(`tests that stand at a breakpoint lose their requests: ${error.message}`, "trafficmock");
    });
  }

  /** End the thread; its connection does not matter any more. */
  end() {
    return this.thread.terminate();
  }
}

module.exports = { Liveness };
