"use strict";

const { contextIn, handle, withBaggage } = require("./message-contexts.js");

/** @typedef {import('../contexts/test-contexts.js').TestContexts} TestContexts */

/** What ends the work on a message, where the function that got it returns no promise. */
const ANSWERS = ["ack", "nack", "reject"];

/** The contexts of messages that are being handled. @type {WeakMap<object, import('../contexts/test-contexts.js').TestContext>} */
const handled = new WeakMap();

/**
 * Carry the context in the headers of messages of RabbitMQ.
 * @param {TestContexts} contexts
 * @param {any} model of promises or of callbacks
 */
function hookChannels(contexts, { Channel }) {
  const channel = Channel.prototype;
  const { publish } = channel;
  channel.publish = function (
    /** @type {any} */ exchange,
    /** @type {any} */ key,
    /** @type {any} */ content,
    /** @type {any} */ options,
    /** @type {any[]} */ ...rest
  ) {
    const headers = withBaggage(contexts, options?.headers);
    const given = headers === options?.headers ? options : { ...options, headers };
    return publish.call(this, exchange, key, content, given, ...rest);
  };
  for (const name of ANSWERS) {
    const original = channel[name];
    channel[name] = function (/** @type {any} */ message, /** @type {any[]} */ ...args) {
      const context = handled.get(message);
      if (context) contexts.known.close(context);
      return original.call(this, message, ...args);
    };
  }
}

/**
 * @param {TestContexts} contexts
 * @param {any} module
 */
function hookConsumers(contexts, { BaseChannel }) {
  const { dispatchMessage } = BaseChannel.prototype;
  BaseChannel.prototype.dispatchMessage = function (/** @type {any} */ fields, /** @type {any} */ message) {
    const context = contextIn(contexts, message?.properties?.headers);
    if (context) handled.set(message, context);
    return handle(contexts, context, () => dispatchMessage.call(this, fields, message));
  };
}

module.exports = { hookChannels, hookConsumers };
