"use strict";

/* Listeners of messages, and workers in the application's process. */
const { EventEmitter } = require("node:events");
const { Queue, Worker } = require("bullmq");
const Redis = require("ioredis");
const pg = require("pg");
const redis = require("redis");
const { startPostgres } = require("../ways/servers.cjs");

module.exports = async ({ ask }) => {
  const port = Number(process.env.REDIS_PORT);
  const connection = { port, host: "127.0.0.1" };
  const publisher = new Redis(connection);
  const nodeRedis = () => redis.createClient({ socket: connection }).on("error", () => {});
  const workerOf = (name) => new Worker(name, ({ data: { kind, who } }) => ask(kind, who), { connection });
  const queues = Object.fromEntries(["early", "lazy"].map((name) => [name, new Queue(name, { connection })]));
  await workerOf("early").waitUntilReady();
  const bus = new EventEmitter().setMaxListeners(0);
  const told = new EventEmitter().setMaxListeners(0);

  const heard = (text) => {
    const { kind, who, id } = JSON.parse(text);
    if (id) told.emit(id);
    else void ask(kind, who);
  };
  const early = nodeRedis();
  await early.connect();
  await early.subscribe("early", heard);
  /** What begins with the first request. */
  const lazy = new Map();
  const first = (name, begin) => lazy.get(name) ?? lazy.set(name, begin()).get(name);
  const publish = (channel, one, kind, more = {}) =>
    publisher.publish(channel, JSON.stringify({ kind, who: one.who, ...more }));

  const postgres = await startPostgres();
  const listening = async () => {
    const client = new pg.Client({ ...connection, port: postgres.port, user: "u", database: "d" });
    client.on("notification", ({ payload }) => heard(payload));
    await client.connect();
    await client.query("LISTEN news");
    return client;
  };

  const kinds = {
    "a worker of BullMQ, of the application": (one, kind) => queues.early.add("a", { kind, who: one.who }),
    "a worker of BullMQ, of the first request": async (one, kind) => {
      await first("worker", () => workerOf("lazy").waitUntilReady());
      await queues.lazy.add("a", { kind, who: one.who });
    },
    "redis, a subscription of the application": (one, kind) => publish("early", one, kind),
    "redis, a subscription of the first request": async (one, kind) => {
      await first("redis", async () => {
        const client = nodeRedis();
        await client.connect();
        await client.subscribe("redis", heard);
      });
      await publish("redis", one, kind);
    },
    "ioredis, a subscription of the first request": async (one, kind) => {
      await first("ioredis", () => {
        const client = new Redis(connection).on("message", (_, text) => heard(text));
        return client.subscribe("ioredis");
      });
      await publish("ioredis", one, kind);
    },
    "pg, NOTIFY to a listener of the first request": async (one, kind) => {
      const client = await first("pg", listening);
      const text = JSON.stringify({ kind, who: one.who });
      await client.query(`NOTIFY news, '${text}'`);
    },
    "a callback of bus.once, for a message of redis": async (one, kind) => {
      told.once(one.id, one.ask);
      await publish("early", one, kind, { id: one.id });
    },
    "callbacks of several requests for one event": (one) => {
      bus.once("ready", one.ask);
      setImmediate(() => bus.emit("ready"));
    },
  };
  return Object.fromEntries(
    Object.entries(kinds).map(([kind, act]) => [
      kind,
      async (one) => {
        await act(one, kind);
        return "begun";
      },
    ]),
  );
};
