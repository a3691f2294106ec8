"use strict";

const { readSettings } = require("./settings.js");

/**
 * Attach this process to a trafficmock proxy.
 *
 * @param {{ proxyUrl?: string, token?: string, clientId?: string, webSocket?: 'global' | 'all', ignoreHosts?: string[] }} [options]
 *   others are read from the environment
 * @returns {Promise<{ clientId: string, stop(): Promise<void> }>} resolved when the proxy has answered; at once,
 *   and without effect, if no URL of a proxy is set
 * @throws {Error} with a `code` that begins with `ERR_TRAFFICMOCK_`, within 2 s; then nothing is patched
 * @throws {TypeError} an option or a variable is invalid
 */
async function startTrafficMock(options = {}) {
  const settings = readSettings(options, process.env);
  if (!settings.proxyUrl) return { clientId: settings.clientId, stop: async () => {} };
  // Loaded here, so that the package costs nothing without a URL.
  const { attach } = require("./attach.js");
  return attach(settings);
}

module.exports = { startTrafficMock };
