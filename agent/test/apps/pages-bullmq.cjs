"use strict";

/*
 * A server whose pages say what three third parties said, which jobs of a worker of BullMQ ask. `web` and `worker` are two
 * processes; Redis is on the port `REDIS_PORT`.
 */
const http = require("node:http");
const { Queue, QueueEvents, Worker } = require("bullmq");

const HOST = "http://third.test";
const SECONDS = 60;
const connection = { host: "127.0.0.1", port: Number(process.env.REDIS_PORT) };

async function perform({ name, attemptsMade }) {
  if (name === "stock" && attemptsMade === 0) throw new Error("again");
  return (await fetch(`${HOST}/${name}`)).text();
}

async function serve() {
  const queue = new Queue("pages", { connection });
  const events = new QueueEvents("pages", { connection });
  await events.waitUntilReady();
  const server = http.createServer(async (_, response) => {
    const names = ["price", "stock", "reviews"];
    const options = { attempts: 2, backoff: { type: "fixed", delay: 50 } };
    const jobs = await Promise.all(names.map((name) => queue.add(name, {}, options)));
    const said = await Promise.all(jobs.map((job) => job.waitUntilFinished(events, 1000 * SECONDS)));
    response.end(said.join(" "));
  });
  server.listen(0, "127.0.0.1", () => {
    process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`);
  });
}

if (process.argv[2] === "web") void serve();
else new Worker("pages", perform, { connection, concurrency: 8 });
process.stdin.on("end", () => process.exit(0)).resume();
