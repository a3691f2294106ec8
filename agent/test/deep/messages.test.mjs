import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { hasRabbitmq, isInstalled, startAws, startKafka, startRabbitmq, startRedis } from "../lib/brokers.mjs";
import { ownersOfMessages } from "../lib/messages.mjs";
import { Owners } from "../lib/owners.mjs";
import { startProxy } from "../lib/proxy.mjs";

/**
 * Libraries with their brokers, and the kinds of messages that are nobody's. None is another test's. A batch is nobody's
 * if the broker gave it messages of several tests.
 */
const LIBRARIES = {
  bullmq: {
    skip: !isInstalled("redis-server") && "redis-server is not installed",
    start: startRedis,
    env: ({ port }) => ({ REDIS_PORT: String(port) }),
    nobodys: ["metadata of another form", "told to carry nothing"],
  },
  amqplib: {
    skip: !hasRabbitmq() && "rabbitmq-server is not installed",
    start: startRabbitmq,
    env: ({ port }) => ({ AMQP_URL: `amqp://127.0.0.1:${port}` }),
    nobodys: ["baggage that is no text", "polled by get"],
  },
  kafkajs: {
    start: startKafka,
    env: ({ broker }) => ({ KAFKA_BROKER: broker }),
    nobodys: [],
  },
  sqs: {
    start: startAws,
    env: ({ port }) => ({ AWS_URL: `http://127.0.0.1:${port}` }),
    nobodys: ["ten attributes", "nearly as large as may be", "for … of", "by index"],
  },
};

describe("the message of a test is handled in its context", () => {
  let proxy, owners;
  before(async () => {
    proxy = await startProxy();
    owners = await Owners.start(proxy);
  });
  after(async () => {
    owners?.close();
    await proxy?.stop();
  });

  for (const [library, { skip, start, env, nobodys }] of Object.entries(LIBRARIES)) {
    test(library, { skip, timeout: 240000 }, async (t) => {
      const broker = await start();
      t.after(() => broker.stop());
      const found = await ownersOfMessages(t, proxy, owners, { library, env: env(broker), rounds: 3 });
      t.diagnostic(JSON.stringify(found));
      const isBatch = (kind) => kind.startsWith("batch");
      const others = Object.entries(found).filter(
        ([kind, one]) => one !== "right" && !(isBatch(kind) && one === "nobody's"),
      );
      assert.deepEqual(Object.fromEntries(others), Object.fromEntries(nobodys.map((kind) => [kind, "nobody's"])));
    });
  }
});
