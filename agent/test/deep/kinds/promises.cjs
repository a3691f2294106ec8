"use strict";

/* Libraries with promises of their own. */
const { Server } = require("node:net");
const { once } = require("node:events");
const { Aedes } = require("aedes");
const Bluebird = require("bluebird");
const { connectAsync } = require("mqtt");
const Q = require("q");
const { Promise: Rsvp } = require("rsvp");
const workerpool = require("workerpool");

module.exports = async ({ everyone }) => {
  const pool = workerpool.pool({ maxWorkers: 1 });
  /** @returns {(one: any) => Promise<string>} one promise, which all wait for by `then` */
  const shared = (make) => {
    let promise;
    return (one) =>
      new Promise((resolve) => {
        promise ??= make();
        promise.then(one.ask).then(resolve);
      });
  };
  const broker = Aedes.createBroker ? await Aedes.createBroker() : new Aedes();
  const server = new Server(broker.handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  const topic = "jobs";
  let client;
  const connect = async () => {
    const connected = await connectAsync(`mqtt://127.0.0.1:${server.address().port}`);
    connected.on("message", () => everyone("mqtt, a subscription of the first request"));
    await connected.subscribeAsync(topic);
    return connected;
  };

  return {
    "Bluebird, then": (one) =>
      new Promise((resolve) =>
        Bluebird.delay(5)
          .then(() => 1)
          .then(one.ask)
          .then(resolve),
      ),
    "Bluebird, map with a limit": (one) =>
      new Promise((resolve) => Bluebird.map([1], one.ask, { concurrency: 1 }).then(([text]) => resolve(text))),
    "Bluebird, a promise that requests share": shared(() => Bluebird.delay(20)),
    "q, a promise that requests share": shared(() => Q.delay(20)),
    "rsvp, a promise that requests share": shared(() => new Rsvp((resolve) => setTimeout(resolve, 20))),
    "workerpool, then": (one) =>
      new Promise((resolve) =>
        pool
          .exec((n) => n, [1])
          .then(one.ask)
          .then(resolve),
      ),
    "mqtt, a subscription of the first request": async () => {
      client ??= connect();
      await (await client).publishAsync(topic, "now");
    },
  };
};
