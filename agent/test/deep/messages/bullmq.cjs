"use strict";

const { FlowProducer, Queue, Worker } = require("bullmq");

module.exports = async ({ handle, longer }) => {
  const connection = { host: "127.0.0.1", port: Number(process.env.REDIS_PORT) };
  const queues = Object.fromEntries(["jobs", "sandbox"].map((name) => [name, new Queue(name, { connection })]));
  const { jobs, sandbox } = queues;
  const flows = new FlowProducer({ connection });
  /** Jobs that another library's instrumentation, or the application, has marked. */
  const metadata = JSON.stringify({ baggage: "user=7" });
  const send = {
    add: (data) => jobs.add("a", data),
    bulk: (data) => jobs.addBulk([{ name: "a", data }]),
    delayed: (data) => jobs.add("a", data, { delay: 300 }),
    retried: (data) => jobs.add("a", data, { attempts: 3, backoff: { type: "fixed", delay: 50 } }),
    "longer than the limit": (data) => jobs.add("a", data),
    chained: (data) => jobs.add("a", data),
    "event of the worker": (data) => jobs.add("a", data),
    "child of a flow": (data) =>
      flows.add({ name: "a", queueName: "jobs", data: {}, children: [{ name: "a", queueName: "jobs", data }] }),
    "parent of a flow": (data) =>
      flows.add({ name: "a", queueName: "jobs", data, children: [{ name: "a", queueName: "jobs", data: {} }] }),
    "beside other baggage": (data) => jobs.add("a", data, { telemetry: { metadata } }),
    "metadata of another form": (data) => jobs.add("a", data, { telemetry: { metadata: "mine" } }),
    "told to carry nothing": (data) => jobs.add("a", data, { telemetry: { omitContext: true } }),
    sandboxed: (data) => sandbox.add("a", data),
    "worker that the first request starts": async (data) => {
      await jobs.client;
      lazy ??= new Worker("lazy", ({ data: { kind, who } }) => handle(kind, who), { connection, concurrency: 2 });
      queues.lazy ??= new Queue("lazy", { connection });
      await queues.lazy.add("a", data);
    },
  };
  let lazy;
  async function perform({ data: { kind, who }, attemptsMade }) {
    if (!kind) return;
    if (kind === "retried" && attemptsMade < 2) throw new Error("again");
    if (kind === "longer than the limit") await longer();
    if (kind === "chained") return jobs.add("a", { kind: "add", as: kind, who });
    if (kind !== "event of the worker") await handle(kind, who);
  }
  return {
    kinds: Object.keys(send),
    send: (kind, who) => send[kind]({ kind, who }),
    work: async () => {
      const worker = new Worker("jobs", (job) => (job.data.as ? handle(job.data.as, job.data.who) : perform(job)), {
        connection,
        concurrency: 8,
      });
      worker.on("completed", ({ data: { kind, who } }) => {
        if (kind === "event of the worker") void handle(kind, who);
      });
      const sandboxed = new Worker("sandbox", require.resolve("./sandbox.cjs"), { connection });
      sandboxed.on("progress", (_job, told) => process.send(told));
      await Promise.all([worker.waitUntilReady(), sandboxed.waitUntilReady()]);
    },
  };
};
