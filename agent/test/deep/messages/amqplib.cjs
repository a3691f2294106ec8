"use strict";

const amqp = require("amqplib");
const callbacks = require("amqplib/callback_api");

const HEADERS = { baggage: "user=7", "x-mine": 1 };

module.exports = async ({ handle, longer }) => {
  const { AMQP_URL } = process.env;
  const connection = await amqp.connect(AMQP_URL);
  const channel = await connection.createChannel();
  const confirmed = await connection.createConfirmChannel();
  const back = await new Promise((resolve, reject) => {
    callbacks.connect(AMQP_URL, (error, made) =>
      error ? reject(error) : made.createChannel((failed, opened) => (failed ? reject(failed) : resolve(opened))),
    );
  });
  const names = ["jobs", "callbacks", "unanswered", "polled", "lazy"];
  for (const name of names) await channel.assertQueue(name);
  await channel.assertExchange("topics", "topic");
  await channel.bindQueue("jobs", "topics", "#");
  const bytes = (data) => Buffer.from(JSON.stringify(data));
  let lazy;
  const send = {
    sendToQueue: (data) => channel.sendToQueue("jobs", bytes(data)),
    publish: (data) => channel.publish("topics", "a.b", bytes(data), { persistent: true }),
    "confirm channel": async (data) => {
      confirmed.sendToQueue("jobs", bytes(data), {});
      await confirmed.waitForConfirms();
    },
    "beside other baggage": (data) => channel.sendToQueue("jobs", bytes(data), { headers: HEADERS }),
    "baggage that is no text": (data) => channel.sendToQueue("jobs", bytes(data), { headers: { baggage: 7 } }),
    requeued: (data) => channel.sendToQueue("jobs", bytes(data)),
    chained: (data) => channel.sendToQueue("jobs", bytes(data)),
    "longer than the limit": (data) => channel.sendToQueue("jobs", bytes(data)),
    "longer, without a promise": (data) => channel.sendToQueue("jobs", bytes(data)),
    "API of callbacks": (data) => back.sendToQueue("callbacks", bytes(data)),
    "consumer without acknowledgement": (data) => channel.sendToQueue("unanswered", bytes(data)),
    "polled by get": (data) => channel.sendToQueue("polled", bytes(data)),
    "consumer that the first request starts": async (data) => {
      lazy ??= channel.consume("lazy", async (message) => {
        channel.ack(message);
        const { kind, who } = JSON.parse(message.content);
        await handle(kind, who);
      });
      await lazy;
      channel.sendToQueue("lazy", bytes(data));
    },
  };
  async function consume(message) {
    const { kind, who, as } = JSON.parse(message.content);
    if (kind === "requeued" && !message.fields.redelivered) return channel.nack(message);
    if (kind === "longer than the limit") await longer();
    if (kind === "chained" && !as) channel.sendToQueue("jobs", Buffer.from(JSON.stringify({ kind, who, as: true })));
    else await handle(kind, who);
    channel.ack(message);
  }
  return {
    kinds: Object.keys(send),
    send: (kind, who) => send[kind]({ kind, who }),
    work: async () => {
      await channel.consume("jobs", (message) => {
        if (JSON.parse(message.content).kind !== "longer, without a promise") return consume(message);
        void longer().then(() => consume(message));
      });
      await new Promise((resolve) =>
        back.consume(
          "callbacks",
          (message) => {
            const { kind, who } = JSON.parse(message.content);
            setTimeout(() => handle(kind, who).then(() => back.ack(message)), 5);
          },
          {},
          resolve,
        ),
      );
      await channel.consume(
        "unanswered",
        (message) => {
          const { kind, who } = JSON.parse(message.content);
          void handle(kind, who);
        },
        { noAck: true },
      );
      setInterval(async () => {
        const message = await channel.get("polled", { noAck: true });
        if (message) await handle(...Object.values(JSON.parse(message.content)));
      }, 20);
    },
  };
};
