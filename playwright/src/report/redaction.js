"use strict";

const {
  HARMLESS_ENDS,
  SECRET_NAMES,
  SECRET_PARAMETERS,
  SHORT_SECRET_NAMES,
} = require("trafficmock-agent/protocol/facts");

const { addedSecrets } = require("../settings.js");

/** Removes credentials from the lines of reports. A HAR is redacted by the proxy, which has the whole rule. */

const REDACTED = "[redacted]";
const SECRET = new RegExp(SECRET_NAMES, "i");
const HARMLESS = new RegExp(HARMLESS_ENDS, "i");

/** @param {string} name of a parameter */
function isSecret(name) {
  const low = name.toLowerCase();
  if (SHORT_SECRET_NAMES.includes(low) || SECRET_PARAMETERS.includes(low)) return true;
  return (SECRET.test(name) && !HARMLESS.test(name)) || addedSecrets().includes(`query:${name}`);
}

/**
 * @param {string} text
 * @returns {string} the URL without credentials and secrets in its query; text that is not a URL is returned as it is
 */
function redactUrl(text) {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.username) url.username = "redacted";
  if (url.password) url.password = "redacted";
  for (const name of url.searchParams.keys()) {
    if (isSecret(name)) url.searchParams.set(name, REDACTED);
  }
  if (/[=&]/.test(url.hash)) url.hash = "";
  return url.href === new URL(text).href ? text : url.href;
}

module.exports = { redactUrl };
