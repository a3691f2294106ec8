"use strict";

/* Queues of jobs, of one place, which run from the first request on. */
const { spawn } = require("node:child_process");
const { MessageChannel } = require("node:worker_threads");
const Bottleneck = require("bottleneck");
const fastq = require("fastq");

const FLUSH_MS = 20;
const ANSWER_MS = 1000;

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
  /** A queue whose loop ends when it is empty, and for whose jobs nobody waits. */
  const drained = () => {
    const waiting = [];
    let isBusy = false;
    const drain = async () => {
      isBusy = true;
      while (waiting.length > 0) await waiting.shift().ask();
      isBusy = false;
    };
    return (one) => {
      waiting.push(one);
      if (!isBusy) void drain();
    };
  };
  const [answered, unanswered] = [drained(), drained()];
  const given = new Map();
  let ports;
  let child;
  const tell = (id) => void given.get(id).ask();
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
    "a loop over an array, whose jobs nobody waits for": (one) => answered(one),
    "such a loop, before the first request is answered": async (one) => {
      unanswered(one);
      await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
    },
    "a MessagePort of the first request": (one) => {
      given.set(one.id, one);
      if (!ports) {
        ports = new MessageChannel();
        ports.port1.on("message", tell);
        ports.port1.unref();
      }
      ports.port2.postMessage(one.id);
    },
    "the output of a child process of the first request": (one) => {
      given.set(one.id, one);
      if (!child) {
        child = spawn("cat");
        child.stdout.on("data", (data) => String(data).split("\n").filter(Boolean).forEach(tell));
      }
      child.stdin.write(`${one.id}\n`);
    },
  };
};
