"use strict";

const { createHmac, randomBytes } = require("node:crypto");
const {
  HARMLESS_ENDS,
  SECRET_NAMES,
  SECRET_PARAMETERS,
  SHORT_SECRET_NAMES,
} = require("trafficmock-agent/protocol/facts");

const { addedSecrets } = require("../settings.js");

/** Removes credentials from the lines of reports. A HAR is redacted by the proxy, which has the whole rule. */

/** Makes the marks of this process: equal secrets have equal marks, and nobody without the key can try values. */
const KEY = randomBytes(16);
const MARK = /^(?:\[redacted:[0-9a-f]{8}\]|redacted-[0-9a-f]{8})$/;
const WRITTEN_MARK = /%5Bredacted%3A([0-9a-f]{8})%5D/g;
const SECRET = new RegExp(SECRET_NAMES, "i");
const HARMLESS = new RegExp(HARMLESS_ENDS, "i");

/** @param {string} name of a parameter */
function isSecret(name) {
  const low = name.toLowerCase();
  if (SHORT_SECRET_NAMES.includes(low) || SECRET_PARAMETERS.includes(low)) return true;
  return (SECRET.test(name) && !HARMLESS.test(name)) || addedSecrets().includes(`query:${name}`);
}

/** @param {string} secret @returns {string} the digits of its mark */
const digest = (secret) => createHmac("sha256", KEY).update(secret).digest("hex").slice(0, 8);

/** @param {string} secret @param {(digits: string) => string} written @returns {string} a mark and nothing stay as they are */
const mark = (secret, written) => (secret && !MARK.test(secret) ? written(digest(secret)) : secret);

/** @param {string} digits */
const ofUser = (digits) => `redacted-${digits}`;
/** @param {string} digits */
const ofValue = (digits) => `[redacted:${digits}]`;

/**
 * @param {string} text
 * @returns {string} the URL without credentials and secrets in its query; text that is not a URL is returned as it is
 */
function redactUrl(text) {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.username = mark(url.username, ofUser);
  url.password = mark(url.password, ofUser);
  const fields = [...url.searchParams];
  if (fields.some(([name]) => isSecret(name))) {
    const marked = fields.map(([name, value]) => [name, isSecret(name) ? mark(value, ofValue) : value]);
    url.search = String(new URLSearchParams(marked));
  }
  if (/[=&]/.test(url.hash)) url.hash = "";
  return url.href === new URL(text).href ? text : url.href.replace(WRITTEN_MARK, "[redacted:$1]");
}

module.exports = { redactUrl };
