import assert from "node:assert/strict";
import { test } from "node:test";
import { isInstalled, startRedis } from "../lib/brokers.mjs";
import { ownersOfMessages } from "../lib/messages.mjs";
import { Owners } from "../lib/owners.mjs";
import { startProxy } from "../lib/proxy.mjs";

const skip = !isInstalled("redis-server") && "redis-server is not installed";

test("jobs of BullMQ belong to the tests whose requests added them", { skip, timeout: 60000 }, async (t) => {
  const [proxy, redis] = await Promise.all([startProxy(), startRedis()]);
  const owners = await Owners.start(proxy, ["A", "B"]);
  t.after(async () => {
    owners.close();
    await Promise.all([proxy.stop(), redis.stop()]);
  });
  const only = ["add", "retried", "chained"];
  const options = { library: "bullmq", env: { REDIS_PORT: String(redis.port) }, rounds: 1, only };
  const found = await ownersOfMessages(t, proxy, owners, options);
  assert.deepEqual(found, Object.fromEntries(only.map((kind) => [kind, "right"])));
});
