"use strict";

/* Clients of databases, with one connection for all requests. */
const Redis = require("ioredis");
const pg = require("pg");
const redis = require("redis");
const { startPostgres } = require("../ways/servers.cjs");

module.exports = async () => {
  const postgres = await startPostgres();
  const port = Number(process.env.REDIS_PORT);
  const quiet = (client) => client.on("error", () => {});
  const ioredis = new Redis({ port, host: "127.0.0.1" });
  const lazyIoredis = new Redis({ port, host: "127.0.0.1", lazyConnect: true });
  const nodeRedis = await quiet(redis.createClient({ socket: { port, host: "127.0.0.1" } })).connect();
  let connected;
  const database = { port: postgres.port, host: "127.0.0.1", user: "u", database: "d", max: 1 };
  const pool = new pg.Pool(database);
  const watched = new pg.Pool(database);

  return {
    "ioredis, awaited": async (one) => {
      await ioredis.get("key");
      return one.ask();
    },
    "ioredis, a callback": (one) => new Promise((resolve) => ioredis.get("key", () => resolve(one.ask()))),
    "ioredis, a pipeline": async (one) => {
      await ioredis.pipeline().get("a").get("b").exec();
      return one.ask();
    },
    "ioredis that the first request connects": async (one) => {
      await lazyIoredis.get("key");
      return one.ask();
    },
    "redis, awaited": async (one) => {
      await nodeRedis.get("key");
      return one.ask();
    },
    "redis that the first request connects": async (one) => {
      connected ??= quiet(redis.createClient({ socket: { port, host: "127.0.0.1" } })).connect();
      await (await connected).get("key");
      return one.ask();
    },
    "pg, awaited": async (one) => {
      await pool.query("select 1");
      return one.ask();
    },
    "pg, a callback": (one) => new Promise((resolve) => pool.query("select 1", () => resolve(one.ask()))),
    "pg, an event of a client": async (one) => {
      const client = await watched.connect();
      const said = new Promise((resolve) => client.once("drain", () => resolve(one.ask())));
      await client.query("select 1");
      await said;
      client.release();
    },
  };
};
