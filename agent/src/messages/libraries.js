"use strict";

const { changeFiles } = require("../process/modules.js");
const { hookAws } = require("./aws.js");
const { hookChannels, hookConsumers } = require("./amqplib.js");
const { hookBullmq, hookSandbox } = require("./bullmq.js");
const { hookKafka } = require("./kafka.js");

/**
 * Let messages of queues and brokers carry the context of a test, and handle each in its own.
 * @param {import('../contexts/test-contexts.js').TestContexts} contexts
 * @returns {() => void} undoes it, for libraries that are loaded later
 */
function carryMessages(contexts) {
  if (!contexts.isOn) return () => {};
  const channels = (/** @type {any} */ exports) => hookChannels(contexts, exports);
  const aws = (/** @type {any} */ exports) => hookAws(contexts, exports);
  return changeFiles(
    {
      "bullmq/dist/cjs/index": (exports) => hookBullmq(contexts, exports),
      "bullmq/dist/cjs/classes/child-processor": (exports) => hookSandbox(contexts, exports),
      "amqplib/lib/channel_model": channels,
      "amqplib/lib/callback_model": channels,
      "amqplib/lib/channel": (exports) => hookConsumers(contexts, exports),
      "kafkajs/index": (exports) => hookKafka(contexts, exports),
      "@aws-sdk/client-sqs/dist-cjs/index": aws,
      "@aws-sdk/client-sns/dist-cjs/index": aws,
    },
    { text: "its messages have no context" },
  );
}

module.exports = { carryMessages };
