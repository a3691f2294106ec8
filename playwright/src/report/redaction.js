"use strict";

/** Removes credentials from reports, which are sent to other people. */

const REDACTED = "[redacted]";
const SECRET_HEADER =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key|api-key|x-auth-token)$|token|secret|password|signature/i;
const SECRET_PARAMETER = /^(?:key|code|sig|auth)$|token|secret|password|signature|api[_-]?key|credential/i;

/**
 * @param {import("../arguments/headers.js").Pairs} pairs
 * @returns {import("../arguments/headers.js").Pairs}
 */
const redactHeaders = (pairs) =>
  pairs.map(([name, value]) => [
    name,
    SECRET_HEADER.test(name) ? REDACTED : name === "location" ? redactUrl(value) : value,
  ]);

/**
 * @param {string} text
 * @returns {string} the URL without credentials and secrets in its query; text that is not a URL is returned as it is
 */
function redactUrl(text) {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.password) url.password = "redacted";
  for (const name of url.searchParams.keys()) {
    if (SECRET_PARAMETER.test(name)) url.searchParams.set(name, REDACTED);
  }
  return url.href === new URL(text).href ? text : url.href;
}

module.exports = { redactHeaders, redactUrl };
