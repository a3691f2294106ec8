"use strict";

/*
 * Ways through npm packages, for `apps/ways.cjs`: pools and queues of one place, so that
 * requests which come at once wait for each other.
 */
const net = require("node:net");
const { AsyncResource } = require("node:async_hooks");
const { EventEmitter, on } = require("node:events");
const { Worker } = require("node:worker_threads");
const async = require("async");
const Bottleneck = require("bottleneck");
const DataLoader = require("dataloader");
const express = require("express");
const fastify = require("fastify");
const fastq = require("fastq");
const { default: formidable } = require("formidable");
const genericPool = require("generic-pool");
const Redis = require("ioredis");
const Koa = require("koa");
const { LRUCache } = require("lru-cache");
const multer = require("multer");
const pg = require("pg");
const { Piscina } = require("piscina");
const redisClient = require("redis");
const rxjs = require("rxjs");
const { startPostgres, startRedis } = require("./servers.cjs");

const QUIET_MS = 5;

/**
 * @param {(url?: string) => Promise<string>} ask asks the third party
 * @returns {Promise<{ ways: Record<string, Function>, later: Record<string, Function> }>} see `apps/ways.cjs`
 */
module.exports = async (ask) => {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  const queues = await Promise.all([import("p-queue"), import("p-limit")]);
  const [PQueue, pLimit] = queues.map((module) => module.default);

  const pQueue = new PQueue({ concurrency: 1 });
  const limit = pLimit(1);
  const asyncQueue = async.queue((job, done) => job().then(done, done), 1);
  const one = { create: async () => ({}), destroy: async () => {} };
  const pool = genericPool.createPool(one, { max: 1 });
  const database = new pg.Pool({ port: postgres.port, host: "127.0.0.1", user: "u", database: "d", max: 1 });
  const ioredis = new Redis({ port: redis.port, host: "127.0.0.1", enableReadyCheck: false });
  const replies = await connectReplies(redis.port);
  const piscina = new Piscina({ filename: require.resolve("./worker.cjs"), maxThreads: 1 });
  const resources = new CallbackPool();
  const loop = lazyLoop();
  const cached = new LRUCache({ max: 100, fetchMethod: () => ask() });
  const emitter = new EventEmitter();

  const queries = {
    "pg, query by promise": async () => {
      await database.query("select 1");
      return ask();
    },
    "pg, client by promise": async () => {
      const client = await database.connect();
      try {
        await client.query("select 1");
        return await ask();
      } finally {
        client.release();
      }
    },
    "pg, query with a callback": () => called(ask, (done) => database.query("select 1", () => done())),
    "pg, client with a callback": () =>
      new Promise((resolve, reject) => {
        database.connect((error, client, release) => {
          if (error) return reject(error);
          ask()
            .then(resolve, reject)
            .finally(() => release());
        });
      }),
    ioredis: async () => {
      await ioredis.get("key");
      return ask();
    },
    "ioredis, pipeline": async () => {
      await ioredis.pipeline().get("a").get("b").exec();
      return ask();
    },
    "a client that matches replies with callbacks": () => called(ask, (done) => replies.send("PING", done)),
  };

  const pooled = {
    "p-queue, full": () => pQueue.add(() => ask()),
    "p-queue, full, bound": () => pQueue.add(AsyncResource.bind(() => ask())),
    "p-limit, full": () => limit(() => ask()),
    "async.queue, full": () =>
      new Promise((resolve, reject) => {
        asyncQueue.push(() => ask().then(resolve, reject));
      }),
    "async.mapLimit": async () => (await async.mapLimit([1, 2], 1, async () => ask()))[1],
    "generic-pool, full": () => pool.use(() => ask()),
    "a pool made by hand, full": () =>
      new Promise((resolve, reject) => {
        resources.take((release) => ask().then(resolve, reject).finally(release));
      }),
    "a loop that the first request starts": () => loop(ask),
    "DataLoader of a request": () => new DataLoader((keys) => Promise.all(keys.map(() => ask()))).load(1),
    "lru-cache, fetch": (req) => cached.fetch(`${req.headers["x-key"]}`, { forceRefresh: true }),
  };

  const frameworks = {
    "express, multer": (req, res) => void multerApplication(ask)(req, res),
    "express, error handler": (req, res) => void erring(ask)(req, res),
    formidable: async (req) => {
      await formidable({}).parse(req);
      return ask();
    },
    koa: (req, res) => void koa(ask)(req, res),
    fastify: async (req, res) => {
      (await fastifyApplication(ask)).routing(req, res);
    },
  };

  const others = {
    rxjs: () => rxjs.firstValueFrom(rxjs.timer(QUIET_MS).pipe(rxjs.mergeMap(() => ask()))),
    "events.on": async () => {
      const name = `${Math.random()}`;
      setImmediate(() => emitter.emit(name));
      for await (const _ of on(emitter, name)) return ask();
    },
    "an event that callbacks of several requests wait for": () =>
      called(ask, (done) => {
        emitter.once("shared", done);
        setImmediate(() => emitter.emit("shared"));
      }),
    "worker thread of a pool": () => piscina.run(undefined),
    "worker thread's message": () =>
      called(ask, (done) =>
        new Worker("require('node:worker_threads').parentPort.postMessage(1)", { eval: true }).on("message", done),
      ),
  };

  const queued = queuesOf(ask, redis.port);

  return {
    ways: { ...queries, ...pooled, ...queued, ...frameworks, ...others },
    later: { "socket's close": (res) => called(ask, (done) => res.socket.on("close", done)) },
  };
};

/** Queues whose worker asks, batches, and listeners of messages: of one place, and begun by the first request. */
function queuesOf(ask, redisPort) {
  const worker = (_, done) => void ask().then((text) => done(null, text), done);
  const job = () => ask();
  /** @param {(done: (error: any, text: string) => void) => void} push */
  const pushed = (push) =>
    new Promise((resolve, reject) => push((error, text) => (error ? reject(error) : resolve(text))));
  const callbacks = fastq(worker, 1);
  const promises = fastq.promise(job, 1);
  const limiter = new Bottleneck({ maxConcurrent: 1 });
  const ordered = async.priorityQueue(worker, 1);
  const cargo = async.cargo(worker, 1);
  const asynchronous = async.queue(async () => ask(), 1);
  const loader = new DataLoader((keys) => Promise.all(keys.map(job)), { cache: false });
  const single = new DataLoader((keys) => Promise.all(keys.map(job)), { cache: false, maxBatchSize: 1 });
  const flushed = buffer((waiting) =>
    ask().then(
      (text) => waiting.forEach(({ resolve }) => resolve(text)),
      (error) => waiting.forEach(({ reject }) => reject(error)),
    ),
  );
  const nodeRedis = subscription(redisClient.createClient, redisPort, (client, heard) =>
    client.connect().then(() => client.subscribe("news", heard)),
  );
  const ioRedis = subscription(
    ({ socket }) => new Redis({ ...socket, protocol: 2, enableReadyCheck: false }),
    redisPort,
    (client, heard) => {
      client.on("message", (_, text) => heard(text));
      return client.subscribe("news");
    },
  );

  return {
    "async.queue, async worker": () => asynchronous.pushAsync(1),
    "async.priorityQueue, full": () => pushed((done) => ordered.push(1, 1, done)),
    "async.cargo, full": () => pushed((done) => cargo.push(1, done)),
    "fastq, full": () => pushed((done) => callbacks.push(1, done)),
    "fastq.promise, full": () => promises.push(1),
    "bottleneck, schedule, full": () => limiter.schedule(job),
    "bottleneck, wrap, full": () => limiter.wrap(job)(),
    "bottleneck, submit, full": () => pushed((done) => limiter.submit(worker, 1, done)),
    "DataLoader of all requests": () => loader.load(1),
    "DataLoader of all requests, one at a time": () => single.load(1),
    "a buffer that a timer flushes": () => flushed(),
    "redis, subscription by the first request": () => nodeRedis(ask),
    "ioredis, subscription by the first request": () => ioRedis(ask),
  };
}

/** Requests that wait for one flush, by the timer of the first of them. */
function buffer(flush) {
  let waiting = [];
  return () =>
    new Promise((resolve, reject) => {
      if (!waiting.length) {
        setTimeout(() => {
          const all = waiting;
          waiting = [];
          flush(all);
        }, QUIET_MS);
      }
      waiting.push({ resolve, reject });
    });
}

/** One subscription, which the first request makes; each request publishes, and its message asks. */
function subscription(create, port, subscribe) {
  const waiting = new Map();
  let ready;
  return async (ask) => {
    const client = () => create({ RESP: 2, socket: { port, host: "127.0.0.1" } });
    const heard = (name) => {
      const found = waiting.get(name);
      if (found) ask().then(found.resolve, found.reject);
    };
    ready ??= subscribe(
      client().on("error", () => {}),
      heard,
    );
    await ready;
    const name = `${Math.random()}`;
    return new Promise((resolve, reject) => {
      waiting.set(name, { resolve, reject });
      publish(port, name);
    });
  };
}

function publish(port, text) {
  net
    .connect(port, "127.0.0.1")
    .on("error", () => {})
    .end(`*3\r\n$7\r\nPUBLISH\r\n$4\r\nnews\r\n$${text.length}\r\n${text}\r\n`);
}

const called = (ask, act) =>
  new Promise((resolve) => {
    act(() => resolve(ask()));
  });

const codeOf = (error) => String(error.cause?.code ?? error.code);
const said = (ask, res) =>
  ask()
    .catch(codeOf)
    .then((text) => res.end(text));

const multerApplication = (ask) => express().use(multer().any(), (req, res) => said(ask, res));
const erring = (ask) =>
  express()
    .use(() => {
      throw new Error("as expected");
    })
    // Express knows it by its four parameters.
    .use((error, req, res, _next) => said(ask, res));

const koa = (ask) =>
  new Koa()
    .use(async (context, next) => {
      await next();
      context.body ??= "";
    })
    .use(async (context) => {
      context.body = await ask().catch(codeOf);
    })
    .callback();

async function fastifyApplication(ask) {
  const application = fastify();
  application.addHook("preHandler", (request, reply, done) => setImmediate(done));
  application.addContentTypeParser("*", (request, payload, done) => payload.resume().on("end", () => done(null)));
  application.all("/*", () => ask().catch(codeOf));
  await application.ready();
  return application;
}

/** One resource, for which callbacks wait. */
class CallbackPool {
  constructor() {
    this.waiting = [];
    this.isFree = true;
  }

  take(act) {
    if (!this.isFree) return void this.waiting.push(act);
    this.isFree = false;
    act(() => {
      this.isFree = true;
      const next = this.waiting.shift();
      if (next) this.take(next);
    });
  }
}

/** A consumer of jobs that runs from the first of them on. */
function lazyLoop() {
  const jobs = [];
  let wake;
  let running;
  const run = async () => {
    for (;;) {
      while (jobs.length) await jobs.shift()();
      await new Promise((resolve) => {
        wake = resolve;
      });
    }
  };
  return (ask) =>
    new Promise((resolve, reject) => {
      jobs.push(() => ask().then(resolve, reject));
      running ??= run();
      wake?.();
    });
}

/** Commands over one connection, whose callbacks are called in the order of the replies. */
function connectReplies(port) {
  const waiting = [];
  const socket = net.connect(port, "127.0.0.1");
  socket.on("data", (data) => {
    for (const _ of String(data).matchAll(/\r\n/g)) waiting.shift()?.();
  });
  const send = (command, done) => {
    waiting.push(done);
    socket.write(`*1\r\n$${command.length}\r\n${command}\r\n`);
  };
  return new Promise((resolve) => socket.once("connect", () => resolve({ send })));
}
