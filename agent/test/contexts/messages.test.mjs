import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";

const require = createRequire(import.meta.url);
const { TestContexts } = require("../../src/contexts/test-contexts.js");
const { hookAws } = require("../../src/messages/aws.js");
const { hookBullmq } = require("../../src/messages/bullmq.js");
const { hookChannels, hookConsumers } = require("../../src/messages/amqplib.js");
const { hookKafka } = require("../../src/messages/kafka.js");

const ID = "a".repeat(32);
const MEMBER = `trafficmock.test=${ID}`;
const OTHER = `trafficmock.test=${"b".repeat(32)}`;
const TRACE = `00-${ID}-00f067aa0ba902b7-01`;

function made() {
  const contexts = new TestContexts({ isContextRead: true, contextMs: 1000 }, {});
  /** Act in the context of a request with these headers. */
  const as = (incoming, act) => contexts.storage.run(contexts.begin(incoming), act);
  return { contexts, as, id: () => contexts.current()?.id };
}

/** The library's classes, with what they would send; each gives the headers of a message that is sent with some. */
const SENDERS = {
  amqplib(contexts) {
    class Channel {
      publish(_exchange, _key, content, options) {
        return { content, options };
      }
      ack() {}
      nack() {}
      reject() {}
    }
    hookChannels(contexts, { Channel });
    return (headers) => new Channel().publish("", "a", "x", headers && { headers }).options?.headers;
  },
  kafka(contexts) {
    class Kafka {
      producer() {
        return { send: (record) => record, sendBatch: (batch) => batch };
      }
      consumer() {}
    }
    hookKafka(contexts, { Kafka });
    const producer = new Kafka().producer();
    return (headers) => {
      const record = { topic: "a", messages: [{ value: "x", ...(headers && { headers }) }] };
      const { topicMessages } = producer.sendBatch({ topicMessages: [record] });
      assert.deepEqual(topicMessages, [producer.send(record)]);
      return topicMessages[0].messages[0].headers;
    };
  },
  bullmq(contexts) {
    class Job {
      constructor(opts) {
        this.opts = opts;
      }
      asJSON() {
        return { opts: this.opts };
      }
    }
    class Worker {
      processJob() {}
      run() {}
    }
    hookBullmq(contexts, { Job, Worker });
    return (headers) => {
      const metadata = headers && JSON.stringify(headers);
      const { opts } = new Job({ attempts: 1, ...(metadata && { telemetry: { metadata } }) }).asJSON();
      return opts.telemetry && JSON.parse(opts.telemetry.metadata);
    };
  },
};

describe("a message that is sent", () => {
  for (const [library, sender] of Object.entries(SENDERS)) {
    test(`by ${library} has the context beside the application's headers, once`, () => {
      const { contexts, as } = made();
      const send = sender(contexts);
      for (const headers of [undefined, { a: "1" }, { baggage: "user=7" }]) assert.deepEqual(send(headers), headers);
      as({ baggage: MEMBER }, () => {
        assert.deepEqual(send(undefined), { baggage: MEMBER });
        assert.deepEqual(send({ a: "1" }), { a: "1", baggage: MEMBER });
        assert.deepEqual(send({ baggage: "user=7" }), { baggage: `${MEMBER},user=7` });
        for (const baggage of [MEMBER, OTHER, 7, ["a", "b"]]) assert.deepEqual(send({ baggage }), { baggage });
      });
      as({ traceparent: TRACE }, () => assert.equal(send(undefined), undefined));
    });
  }

  test("by a job of BullMQ stays as it is where it has no place for headers, or is of a schedule", () => {
    const { contexts, as } = made();
    class Job {
      asJSON() {
        return this.opts;
      }
    }
    hookBullmq(contexts, { Job, Worker: class {} });
    const telemetries = ["x", "7", "[]", "null"].map((metadata) => ({ telemetry: { metadata } }));
    for (const opts of [...telemetries, { telemetry: { omitContext: true } }, { repeat: { every: 1 } }]) {
      const job = Object.assign(new Job(), { opts });
      assert.equal(
        as({ baggage: MEMBER }, () => job.asJSON()),
        opts,
      );
    }
  });
});

describe("a message of SQS or SNS", () => {
  class Command {
    constructor(input) {
      this.input = input;
    }
  }
  class SendMessageCommand extends Command {}
  class SendMessageBatchCommand extends Command {}
  class ReceiveMessageCommand extends Command {}
  const text = (StringValue) => ({ DataType: "String", StringValue });
  const attributes = (count) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, text("x")]));

  function client(contexts, output = {}) {
    class SQSClient {
      send(command, ...rest) {
        this.command = command;
        if (rest.length > 0) return rest[0](undefined, output);
        return Promise.resolve(output);
      }
    }
    hookAws(contexts, { SQSClient, SendMessageCommand, SendMessageBatchCommand, ReceiveMessageCommand });
    return new SQSClient();
  }

  test("has the context in an attribute, unless the limits forbid it", async () => {
    const { contexts, as } = made();
    const sqs = client(contexts);
    const sent = async (input) => {
      const command = new SendMessageCommand(input);
      await sqs.send(command);
      assert.equal(command.input, input);
      return sqs.command.input;
    };
    const plain = { MessageBody: "x" };
    assert.equal(await sent(plain), plain);
    await as({ baggage: MEMBER }, async () => {
      assert.deepEqual(await sent(plain), { ...plain, MessageAttributes: { baggage: text(MEMBER) } });
      const given = { ...plain, MessageAttributes: { baggage: text("user=7"), ...attributes(9) } };
      assert.equal((await sent(given)).MessageAttributes.baggage.StringValue, `${MEMBER},user=7`);
      const unchanged = [
        { ...plain, MessageAttributes: attributes(10) },
        { ...plain, MessageAttributes: { baggage: { DataType: "Binary", BinaryValue: new Uint8Array(2) } } },
        { MessageBody: "x".repeat(256 * 1024 - 20) },
      ];
      for (const one of unchanged) assert.equal(await sent(one), one);
      const Entries = [{ Id: "1", ...plain }, unchanged[0]];
      await sqs.send(new SendMessageBatchCommand({ Entries }));
      assert.ok(sqs.command instanceof SendMessageBatchCommand);
      const [first, second] = sqs.command.input.Entries;
      assert.deepEqual([first.MessageAttributes, second], [{ baggage: text(MEMBER) }, Entries[1]]);
    });
  });

  test("is handled in its context by map and forEach, and shows nothing that was not asked for", async () => {
    const { contexts, as, id } = made();
    const inBody = JSON.stringify({ MessageAttributes: { baggage: { Value: OTHER } } });
    const output = () => ({
      Messages: [
        { Body: "1", MessageAttributes: { baggage: text(MEMBER) }, MD5OfMessageAttributes: "x" },
        { Body: '"baggage"' },
        { Body: inBody },
        { Body: '{"baggage":' },
      ],
    });
    const sqs = client(contexts, output());
    contexts.wantOrigins({ wanted: false });
    await sqs.send(new ReceiveMessageCommand({ QueueUrl: "q" }));
    assert.deepEqual(sqs.command.input, { QueueUrl: "q" }, "no test has a context");
    contexts.wantOrigins({ wanted: true });
    const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: "q" }));
    assert.deepEqual(sqs.command.input, { QueueUrl: "q", MessageAttributeNames: ["baggage"] });
    assert.deepEqual(Messages[0], { Body: "1" });
    const ids = [ID, undefined, "b".repeat(32), undefined];
    assert.deepEqual(Messages.map(id), ids);
    const said = [];
    Messages.forEach(() => said.push(id()));
    assert.deepEqual(said, ids);
    // A request that waits for an answer in a queue goes on in its context, and one that is over does not.
    const context = contexts.begin({ baggage: "trafficmock.test=c" });
    const inRequest = () => contexts.storage.run(context, () => Messages.map(id)[1]);
    assert.equal(inRequest(), "c");
    contexts.known.close(context);
    assert.equal(inRequest(), undefined);
    const asked = { MessageAttributeNames: ["All"] };
    const all = client(contexts, output());
    const received = await all.send(new ReceiveMessageCommand(asked));
    assert.deepEqual([all.command.input, received.Messages[0]], [asked, output().Messages[0]]);
    assert.equal(as({ baggage: MEMBER }, id), ID);
  });
});

describe("a message that is received", () => {
  test("keeps its context beside OpenTelemetry, whose baggage of another test goes and whose own stays", async (t) => {
    const member = (value) => new Map([["trafficmock.test", { value }]]);
    const baggage = (entries) => ({ getEntry: (name) => entries?.get(name) });
    const active = (entries) => ({ getValue: () => baggage(entries), deleteValue: () => active(undefined), entries });
    let running = active(member("b".repeat(32)));
    const api = Symbol.for("opentelemetry.js.api.1");
    globalThis[api] = {
      context: {
        active: () => running,
        with(next, act) {
          const before = running;
          running = next;
          try {
            return act();
          } finally {
            running = before;
          }
        },
      },
    };
    t.after(() => delete globalThis[api]);
    const { contexts, id } = made();
    contexts.begin({ baggage: OTHER });
    class Job {}
    class Worker {
      processJob() {
        return [id(), running.entries];
      }
    }
    hookBullmq(contexts, { Job, Worker });
    const job = { opts: { telemetry: { metadata: JSON.stringify({ baggage: MEMBER }) } } };
    assert.deepEqual(new Worker().processJob(job), [ID, undefined]);
    assert.deepEqual(new Worker().processJob({ opts: {} }), [undefined, undefined]);
    running = active(new Map([["user", { value: "7" }]]));
    assert.deepEqual(new Worker().processJob(job), [ID, running.entries]);
  });

  test("of Kafka is handled in its context; several are, if all have the same", async () => {
    const { contexts, id } = made();
    class Kafka {
      producer() {}
      consumer() {
        return { run: (config) => config };
      }
    }
    hookKafka(contexts, { Kafka });
    const run = (config) => new Kafka().consumer().run(config);
    const message = (baggage) => ({ headers: baggage && { baggage: Buffer.from(baggage) } });
    const each = (baggage) => run({ eachMessage: id }).eachMessage({ message: message(baggage) });
    assert.deepEqual([each(MEMBER), each(undefined), each("user=7")], [ID, undefined, undefined]);
    const batch = (...all) => run({ eachBatch: id }).eachBatch({ batch: { messages: all.map(message) } });
    assert.deepEqual(
      [batch(MEMBER, MEMBER), batch(MEMBER, OTHER), batch(MEMBER, undefined)],
      [ID, undefined, undefined],
    );
    assert.deepEqual([batch(), batch(undefined, MEMBER)], [undefined, undefined]);
  });

  test("of RabbitMQ lasts until its promise is settled, or until it is acknowledged", async () => {
    const { contexts } = made();
    let consumer;
    class Channel {
      publish() {}
      ack() {}
      nack() {}
      reject() {}
    }
    class BaseChannel extends Channel {
      dispatchMessage(_fields, message) {
        return consumer(message);
      }
    }
    hookChannels(contexts, { Channel });
    hookConsumers(contexts, { BaseChannel });
    const channel = new BaseChannel();
    const message = () => ({ properties: { headers: { baggage: MEMBER } } });
    const context = () => contexts.storage.getStore();
    consumer = context;
    const one = message();
    const open = channel.dispatchMessage({}, one);
    assert.deepEqual([open.id, open.closedAt], [ID, undefined]);
    channel.nack(one);
    assert.notEqual(open.closedAt, undefined);
    consumer = async () => context();
    const promised = await channel.dispatchMessage({}, message());
    await Promise.resolve();
    assert.notEqual(promised.closedAt, undefined);
    // The broker has cancelled the consumer.
    consumer = context;
    assert.equal(channel.dispatchMessage({}, null), undefined);
  });
});
