"use strict";

const { Kafka, logLevel } = require("kafkajs");

module.exports = async ({ handle, longer }) => {
  const kafka = new Kafka({ clientId: "a", brokers: [process.env.KAFKA_BROKER], logLevel: logLevel.ERROR });
  const producer = kafka.producer();
  await producer.connect();
  const message = (data, more) => ({ value: JSON.stringify(data), ...more });
  const one = (data, more, topic = "jobs") => producer.send({ topic, messages: [message(data, more)] });
  const send = {
    send: one,
    sendBatch: (data) => producer.sendBatch({ topicMessages: [{ topic: "jobs", messages: [message(data)] }] }),
    "beside other baggage": (data) => one(data, { headers: { baggage: "user=7", mine: "1" } }),
    "baggage in bytes": (data) => one(data, { headers: { baggage: Buffer.from("user=7") } }),
    chained: one,
    "longer than the limit": one,
    "batch of one": (data) => one(data, {}, "singles"),
    "batch of several tests": (data) => one(data, {}, "batches"),
  };
  async function eachMessage({ message: { value } }) {
    const { kind, who, as } = JSON.parse(value);
    if (kind === "longer than the limit") await longer();
    if (kind === "chained" && !as) await one({ kind, who, as: true });
    else await handle(kind, who);
  }
  const consume = async (topic, config) => {
    const consumer = kafka.consumer({ groupId: topic, maxWaitTimeInMs: 100 });
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run(config);
  };
  return {
    kinds: Object.keys(send),
    send: (kind, who) => send[kind]({ kind, who }),
    work: async () => {
      const each = async ({ batch }) => {
        for (const { value } of batch.messages) await handle(...Object.values(JSON.parse(value)));
      };
      await Promise.all([
        consume("jobs", { eachMessage, partitionsConsumedConcurrently: 3 }),
        consume("singles", { eachBatch: each }),
        consume("batches", { eachBatch: each }),
      ]);
    },
  };
};
