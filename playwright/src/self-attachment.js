"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const { ConnectionError, UsageError } = require("./errors.js");
const { checkedProxyUrl, defaultAttachSelf } = require("./settings.js");

/**
 * Attaches the process of the tests itself, for applications that tests call in it, without a server of its own.
 *
 * @typedef {import("trafficmock-agent/self").SelfAttachment} Attachment
 * @typedef {import("../core.js").AttachSelfOptions} AttachSelfOptions
 */

// Before Node 24, a promise that was made before the first of these belongs to whatever runs when it continues: a runner would
// take the context of its first test to all others.
new AsyncLocalStorage().enterWith(undefined);

/** The attachment of this process; tests that begin while it lasts are current where they run. */
/** @type {{ attachment: Attachment, proxyUrl: string } | undefined} */
let current;

/**
 * Begin to attach this process, unless it is attached.
 *
 * @param {AttachSelfOptions & { proxyUrl: string }} options
 * @returns {Attachment} its `ready` is rejected with a `ConnectionError`
 * @throws {UsageError} an option or a variable is invalid, or this process is attached to another proxy
 */
function beginAttaching(options) {
  if (current?.proxyUrl === options.proxyUrl && current.attachment.isAttached) return current.attachment;
  const attachment = attached(options);
  const ready = attachment.ready.catch((error) => {
    current = undefined;
    throw new ConnectionError(error.message, { cause: error });
  });
  // Who awaits another promise before may never await this one.
  ready.catch(() => {});
  const ours = Object.create(attachment, { ready: { value: ready } });
  current = { attachment: ours, proxyUrl: options.proxyUrl };
  return ours;
}

/** @param {AttachSelfOptions & { proxyUrl: string }} options */
function attached(options) {
  // Loaded here: most tests do not attach their process.
  const { attachSelf } = require("trafficmock-agent/self");
  try {
    return attachSelf(options);
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    throw new UsageError(`this process cannot be attached: ${message}`, { cause: error });
  }
}

/**
 * @param {string} proxyUrl
 * @returns {Attachment | undefined} that of this process, if it has one to this proxy
 */
function currentAttachment(proxyUrl) {
  return current?.proxyUrl === proxyUrl && current.attachment.isAttached ? current.attachment : undefined;
}

/**
 * @param {boolean | undefined} wanted what the test says
 * @param {{ proxyUrl: string, token?: string }} options
 * @returns {Attachment | undefined} the attachment of this process, if the test has one
 */
function ownAttachment(wanted, { proxyUrl, token }) {
  if (wanted === false) return undefined;
  const url = checkedProxyUrl(proxyUrl);
  if (wanted || defaultAttachSelf()) return beginAttaching({ proxyUrl: url, token });
  return currentAttachment(url);
}

/**
 * Make a test current where it runs.
 *
 * @param {import("./session/session.js").Session} session
 * @param {Attachment | undefined} attachment
 */
function enter(session, attachment) {
  begin(session, attachment);
  session.ownTest?.enter();
}

/**
 * Begin a test that is current where it calls its mocks first.
 *
 * @param {import("./session/session.js").Session} session
 * @param {Attachment | undefined} attachment
 */
function begin(session, attachment) {
  const { context } = session.registration;
  session.attachment = attachment;
  if (attachment && context) session.ownTest = attachment.begin(context);
}

module.exports = { begin, beginAttaching, enter, ownAttachment };
