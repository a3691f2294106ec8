"use strict";

/* Queues of jobs, of one place, which run from the first request on. */
const Bottleneck = require("bottleneck");
const fastq = require("fastq");

const FLUSH_MS = 20;

module.exports = () => {
  const worker = (one, done) => void one.ask().then((text) => done(null, text));
  const callbacks = fastq(worker, 1);
  const promises = fastq.promise((one) => one.ask(), 1);
  const limiter = new Bottleneck({ maxConcurrent: 1 });
  const jobs = [];
  let loop;
  const work = async () => {
    for (;;) {
      const job = jobs.shift();
      if (job) await job();
      else await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  let buffer = [];
  const flush = () => {
    const all = buffer;
    buffer = [];
    for (const { ask } of all) void ask();
  };

  return {
    "fastq, callbacks": (one) => new Promise((resolve) => callbacks.push(one, (_, text) => resolve(text))),
    "fastq, promises": (one) => promises.push(one),
    bottleneck: (one) => limiter.schedule(one.ask),
    "a buffer that a setTimeout of the first request flushes": (one) => {
      if (buffer.length === 0) setTimeout(flush, FLUSH_MS);
      buffer.push(one);
    },
    "a loop of the first request": (one) =>
      new Promise((resolve) => {
        loop ??= work();
        jobs.push(() => one.ask().then(resolve));
      }),
  };
};
