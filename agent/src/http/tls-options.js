"use strict";

const NAMES = [
  "ca",
  "cert",
  "checkServerIdentity",
  "ciphers",
  "key",
  "maxVersion",
  "minVersion",
  "passphrase",
  "pfx",
  "rejectUnauthorized",
  "servername",
];

/**
 * Select the TLS options of the application, for a connection that is made in place of its own.
 * @param {any} options of a request or a connection; may be `undefined`
 * @returns {Record<string, any>}
 */
function tlsOptions(options) {
  if (!options || typeof options !== "object") return {};
  return Object.fromEntries(NAMES.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]));
}

module.exports = { tlsOptions };
