"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { performance } = require("node:perf_hooks");

/** Node's own clock, kept because tests of applications replace it. */
const now = performance.now.bind(performance);

/** The time that a report waits for others; ms. */
const BATCH_MS = 20;
/** The limit of the reports in a batch. */
const BATCH_COUNT = 64;
/** The limit of a batch's length, unless that of the proxy is lower; bytes. A longer report is sent alone. */
const BATCH_BYTES = 256 * 1024;
/** The length of a batch without its messages, and the overhead of each message in it; bytes. */
const AROUND = 64;
const AROUND_EACH = 16;

/** Collects the reports of requests that passed without a question, and sends several in one message. */
class Batch {
  /** @param {(text: string) => void} send a message as JSON */
  constructor(send) {
    this.send = send;
    /** @type {string[]} */
    this.texts = [];
    /** The time of each report; ms. @type {number[]} */
    this.times = [];
    this.size = AROUND;
    /** The limit of the batch's length; bytes. */
    this.most = BATCH_BYTES;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
  }

  /** @param {unknown} bytes the proxy's limit of a batch */
  limitTo(bytes) {
    this.most = typeof bytes === "number" ? Math.min(bytes, BATCH_BYTES) : BATCH_BYTES;
  }

  /** @param {string} text a message as JSON */
  add(text) {
    const size = Buffer.byteLength(text) + AROUND_EACH;
    if (this.size + size > this.most) this.flush();
    if (AROUND + size > this.most) return this.send(text);
    this.texts.push(text);
    this.times.push(now());
    this.size += size;
    if (this.texts.length >= BATCH_COUNT) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), BATCH_MS).unref();
  }

  /** Send the reports that wait. */
  flush() {
    if (!this.texts.length) return;
    const { texts, times } = this;
    this.clear();
    const until = now();
    const ago = times.map((time) => Math.max(0, Math.round(until - time)));
    this.send(`{"type":"batch","messages":[${texts.join(",")}],"ago":[${ago.join(",")}]}`);
  }

  /** Drop the reports that wait. */
  clear() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.texts = [];
    this.times = [];
    this.size = AROUND;
  }
}

module.exports = { Batch };
