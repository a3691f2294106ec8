"use strict";

const { SQS, SendMessageCommand, ReceiveMessageCommand, SQSClient } = require("@aws-sdk/client-sqs");
const { CreateTopicCommand, PublishCommand, SNSClient, SubscribeCommand } = require("@aws-sdk/client-sns");

const TEXT = { DataType: "String", StringValue: "x" };
const attributes = (count) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, TEXT]));

module.exports = async ({ handle, longer }) => {
  const options = {
    endpoint: process.env.AWS_URL,
    region: "us-east-1",
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
  };
  const client = new SQSClient(options);
  const sqs = new SQS(options);
  const sns = new SNSClient(options);
  const url = (name) => `${process.env.AWS_URL}/123456789012/${name}`;
  const TopicArn = "arn:aws:sns:us-east-1:123456789012:topic";
  const one = (data, more, queue = "jobs") =>
    client.send(new SendMessageCommand({ QueueUrl: url(queue), MessageBody: JSON.stringify(data), ...more }));
  const send = {
    SendMessage: one,
    "a method of SQS": (data) => sqs.sendMessage({ QueueUrl: url("jobs"), MessageBody: JSON.stringify(data) }),
    SendMessageBatch: (data) =>
      sqs.sendMessageBatch({ QueueUrl: url("jobs"), Entries: [{ Id: "1", MessageBody: JSON.stringify(data) }] }),
    "beside other baggage": (data) =>
      one(data, { MessageAttributes: { baggage: { DataType: "String", StringValue: "user=7" } } }),
    "nine attributes": (data) => one(data, { MessageAttributes: attributes(9) }),
    "ten attributes": (data) => one(data, { MessageAttributes: attributes(10) }),
    "nearly as large as may be": (data) => one({ ...data, more: "x".repeat(256 * 1024 - 100) }),
    chained: one,
    "longer than the limit": one,
    "by SNS": (data) => sns.send(new PublishCommand({ TopicArn, Message: JSON.stringify(data) })),
    "for … of": (data) => one(data, {}, "loops"),
    "by index": (data) => one(data, {}, "indices"),
    "sqs-consumer": (data) => one(data, {}, "consumer"),
  };
  const read = ({ Body }) => {
    const body = JSON.parse(Body);
    return typeof body.Message === "string" ? JSON.parse(body.Message) : body;
  };
  async function each(message) {
    const { kind, who, as } = read(message);
    if (kind === "longer than the limit") await longer();
    if (kind === "chained" && !as) await one({ kind, who, as: true });
    else await handle(kind, who);
  }
  const WAYS = {
    jobs: async (messages) => Promise.all(messages.map(each)),
    loops: async (messages) => {
      for (const message of messages) await each(message);
    },
    indices: async (messages) => {
      for (let at = 0; at < messages.length; at += 1) await each(messages[at]);
    },
  };
  async function poll(name) {
    const input = { QueueUrl: url(name), MaxNumberOfMessages: 10, WaitTimeSeconds: 1 };
    for (;;) {
      const { Messages: messages = [] } = await client.send(new ReceiveMessageCommand(input));
      await WAYS[name](messages);
      for (let at = 0; at < messages.length; at += 1) {
        if (messages[at].MessageAttributes) throw new Error("an attribute that nobody asked for");
        await sqs.deleteMessage({ QueueUrl: url(name), ReceiptHandle: messages[at].ReceiptHandle });
      }
    }
  }
  return {
    kinds: Object.keys(send),
    send: (kind, who) => send[kind]({ kind, who }),
    work: async () => {
      for (const name of [...Object.keys(WAYS), "consumer"]) await sqs.createQueue({ QueueName: name });
      await sns.send(new CreateTopicCommand({ Name: "topic" }));
      const Endpoint = "arn:aws:sqs:us-east-1:123456789012:jobs";
      await sns.send(new SubscribeCommand({ TopicArn, Protocol: "sqs", Endpoint }));
      for (const name of Object.keys(WAYS)) {
        poll(name).catch((error) => {
          console.error(error);
          process.exit(1);
        });
      }
      const { Consumer } = await import("sqs-consumer");
      Consumer.create({ queueUrl: url("consumer"), sqs: client, batchSize: 10, handleMessage: each }).start();
    },
  };
};
