"use strict";

const { readSettings } = require("./settings.js");

/**
 * Attach this process to a trafficmock proxy.
 *
 * @param {{ proxyUrl?: string, token?: string, clientId?: string, webSocket?: 'global' | 'all', ignoreHosts?: string[] }} [options]
 *   those not given are read from the environment
 * @returns {Promise<{ clientId: string, stop(): Promise<void> }>} resolves when the proxy has answered
 * @throws an error whose `code` begins with `ERR_TRAFFICMOCK_`, within 2 s; then nothing is patched
 */
async function startTrafficMock(options = {}) {
  const settings = readSettings(options, process.env);
  if (!settings.proxyUrl) return { clientId: settings.clientId, stop: async () => {} };
  // Loaded only now: without a URL this package costs nothing.
  const { attach } = require("./attach.js");
  return attach(settings);
}

module.exports = { startTrafficMock };
