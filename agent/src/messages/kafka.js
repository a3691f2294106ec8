"use strict";

const { contextIn, handle, withBaggage } = require("./message-contexts.js");

/** @typedef {import('../contexts/test-contexts.js').TestContexts} TestContexts */

/**
 * Carry the context in the headers of messages of Kafka, by the API of kafkajs.
 * @param {TestContexts} contexts
 * @param {any} module
 */
function hookKafka(contexts, { Kafka }) {
  const { producer, consumer } = Kafka.prototype;
  Kafka.prototype.producer = function (/** @type {any[]} */ ...args) {
    return hookSender(contexts, producer.apply(this, args));
  };
  Kafka.prototype.consumer = function (/** @type {any[]} */ ...args) {
    const made = consumer.apply(this, args);
    const { run } = made;
    made.run = (/** @type {any} */ config, /** @type {any[]} */ ...rest) =>
      run.call(made, withHandlers(contexts, config), ...rest);
    return made;
  };
}

/**
 * @param {TestContexts} contexts
 * @param {any} sender a producer or a transaction
 */
function hookSender(contexts, sender) {
  const { send, sendBatch, transaction } = sender;
  const carrying = (/** @type {any} */ record) =>
    Array.isArray(record?.messages)
      ? {
          ...record,
          messages: record.messages.map((/** @type {any} */ message) => {
            const headers = withBaggage(contexts, message?.headers);
            return headers === message?.headers ? message : { ...message, headers };
          }),
        }
      : record;
  sender.send = (/** @type {any} */ record) => send.call(sender, carrying(record));
  sender.sendBatch = (/** @type {any} */ batch) => {
    const { topicMessages } = batch ?? {};
    if (!Array.isArray(topicMessages)) return sendBatch.call(sender, batch);
    return sendBatch.call(sender, { ...batch, topicMessages: topicMessages.map(carrying) });
  };
  if (transaction) {
    sender.transaction = async (/** @type {any[]} */ ...args) =>
      hookSender(contexts, await transaction.apply(sender, args));
  }
  return sender;
}

/**
 * @param {TestContexts} contexts
 * @param {any} config of a consumer's `run`
 */
function withHandlers(contexts, config) {
  const { eachMessage, eachBatch } = config ?? {};
  return {
    ...config,
    ...(eachMessage && {
      eachMessage: (/** @type {any} */ payload) =>
        handle(contexts, contextIn(contexts, payload.message.headers), () => eachMessage(payload)),
    }),
    ...(eachBatch && {
      eachBatch: (/** @type {any} */ payload) =>
        handleBatch(contexts, payload.batch.messages, () => eachBatch(payload)),
    }),
  };
}

/**
 * Handle messages together in their context, if all have the same one.
 * @param {TestContexts} contexts
 * @param {any[]} messages
 * @param {() => any} act
 */
function handleBatch(contexts, messages, act) {
  const [first, ...others] = messages.map(({ headers }) => contextIn(contexts, headers));
  if (others.every((one) => one?.id === first?.id)) return handle(contexts, first, act);
  return handle(contexts, undefined, act, { kind: "batch", name: "kafkajs" });
}

module.exports = { hookKafka };
