"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { performance } = require("node:perf_hooks");

/** Kept, since tests replace clocks. */
const now = performance.now.bind(performance);

/** How long a report may wait for others; ms. */
const BATCH_MS = 20;
/** How many reports are sent together at most. */
const BATCH_COUNT = 64;
/** How long they may be together; characters. What is longer alone goes alone. */
const BATCH_CHARACTERS = 256 * 1024;

/** Reports on requests that passed unasked, which are sent together. */
class Batch {
  /** @param {(text: string) => void} send a message as JSON */
  constructor(send) {
    this.send = send;
    /** @type {string[]} */
    this.texts = [];
    /** When each was written; ms. @type {number[]} */
    this.times = [];
    this.size = 0;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
  }

  /** @param {string} text a message as JSON */
  add(text) {
    if (text.length > BATCH_CHARACTERS) {
      this.flush();
      return this.send(text);
    }
    this.texts.push(text);
    this.times.push(now());
    this.size += text.length;
    if (this.texts.length >= BATCH_COUNT || this.size >= BATCH_CHARACTERS) this.flush();
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
    this.size = 0;
  }
}

module.exports = { Batch };
