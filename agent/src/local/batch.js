"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { performance } = require("node:perf_hooks");

/** Kept, since tests replace clocks. */
const now = performance.now.bind(performance);

/** How long a report may wait for others; ms. */
const BATCH_MS = 20;
/** How many reports are sent together at most. */
const BATCH_COUNT = 64;
/** How long a batch may be, unless the proxy takes less; bytes. A longer report is sent alone. */
const BATCH_BYTES = 256 * 1024;
/** The length of a batch without its messages, and what each message adds to its own length; bytes. */
const AROUND = 64;
const AROUND_EACH = 16;

/** Reports on requests that passed unasked, which are sent together. */
class Batch {
  /** @param {(text: string) => void} send a message as JSON */
  constructor(send) {
    this.send = send;
    /** @type {string[]} */
    this.texts = [];
    /** When each was written; ms. @type {number[]} */
    this.times = [];
    this.size = AROUND;
    /** How long a batch may be; bytes. */
    this.most = BATCH_BYTES;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
  }

  /** @param {unknown} bytes that the proxy takes in one message */
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

  /** Send what there is. */
  flush() {
    if (!this.texts.length) return;
    const { texts, times } = this;
    this.clear();
    const until = now();
    const ago = times.map((time) => Math.max(0, Math.round(until - time)));
    this.send(`{"type":"batch","messages":[${texts.join(",")}],"ago":[${ago.join(",")}]}`);
  }

  /** Drop the batch: there is no proxy to report it to. */
  clear() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.texts = [];
    this.times = [];
    this.size = AROUND;
  }
}

module.exports = { Batch };
