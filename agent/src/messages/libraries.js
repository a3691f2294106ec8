"use strict";

const { onModule } = require("../process/modules.js");
const { sayOnce } = require("../process/say-once.js");
const { hookAws } = require("./aws.js");
const { hookChannels, hookConsumers } = require("./amqplib.js");
const { hookBullmq, hookSandbox } = require("./bullmq.js");
const { hookKafka } = require("./kafka.js");

/** Libraries of queues and brokers: the file of a package, and what changes its exports. */
const LIBRARIES = /** @type {const} */ ([
  ["bullmq/dist/cjs/index.js", hookBullmq],
  ["bullmq/dist/cjs/classes/child-processor.js", hookSandbox],
  ["amqplib/lib/channel_model.js", hookChannels],
  ["amqplib/lib/callback_model.js", hookChannels],
  ["amqplib/lib/channel.js", hookConsumers],
  ["kafkajs/index.js", hookKafka],
  ["@aws-sdk/client-sqs/dist-cjs/index.js", hookAws],
  ["@aws-sdk/client-sns/dist-cjs/index.js", hookAws],
]);

/**
 * Let messages carry the context of a test, and handle each in its own.
 * @param {import('../contexts/test-contexts.js').TestContexts} contexts
 * @returns {() => void} undoes it, for libraries that are loaded later
 */
function carryMessages(contexts) {
  if (!contexts.isOn) return () => {};
  const undo = LIBRARIES.map(([file, hook]) =>
    onModule(patternOf(file), (exports) => {
      try {
        hook(contexts, exports);
      } catch (error) {
        sayOnce(
          `${file} cannot be changed (${/** @type {Error} */ (error).message}), so its messages have no context.`,
        );
      }
    }),
  );
  return () => {
    for (const act of undo.reverse()) act();
  };
}

/** @param {string} file */
const patternOf = (file) => new RegExp(`[\\\\/]${file.replaceAll(".", "\\.").replaceAll("/", "[\\\\/]")}$`);

module.exports = { carryMessages };
