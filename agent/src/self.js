"use strict";

const { attachSelf: attach } = require("./attach.js");
const { readSettings } = require("./settings.js");

/**
 * For the test library: attaches a process for the tests that run in it, together with the application.
 *
 * @typedef {import('./attach.js').SelfAttachment} SelfAttachment
 */

/**
 * Attach this process for its tests. An agent that is attached already is shared.
 * @param {{ proxyUrl: string, token?: string, clientId?: string, ignoreHosts?: string[] }} options
 * @returns {SelfAttachment} at once; its `ready` is settled when the proxy has answered
 * @throws {import('./protocol/errors.js').TrafficMockError} this process is attached to another proxy
 * @throws {TypeError} an option or a variable is invalid
 */
const attachSelf = (options) => attach(readSettings(options, process.env));

module.exports = { attachSelf };
