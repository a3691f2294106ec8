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
 * What the application says of TLS, for a connection that is made in place of its own.
 * @param {any} options of a request or a connection; may be none
 * @returns {Record<string, any>}
 */
function tlsOptions(options) {
  if (!options || typeof options !== "object") return {};
  return Object.fromEntries(NAMES.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]));
}

module.exports = { tlsOptions };
