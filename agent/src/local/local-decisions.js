"use strict";

const { performance } = require("node:perf_hooks");
const { Batch } = require("./batch.js");
const { Filter } = require("./filter.js");

/** Kept, since tests replace clocks. */
const now = performance.now.bind(performance);

/** How long requests may pass without a question, counted from when the last answered question was sent; ms. */
const LEASE_MS = 1000;
/** If the lease has less time left, one request asks, to renew it for the others; ms. */
const RENEW_MS = 500;
/** If more is waiting to be sent, the proxy lags behind and is asked about every request; bytes. */
const MOST_BUFFERED = 8 * 1024 * 1024;

/**
 * Lets requests pass without asking the proxy if none of its routes can match them (feature
 * `local`), and reports them afterwards.
 */
class LocalDecisions {
  /** @param {import('../agent.js').Agent} agent */
  constructor(agent) {
    this.agent = agent;
    this.filter = new Filter();
    /** Whether the proxy's filter is there. */
    this.isReady = false;
    /** The number of the newest message of the proxy that is in force. */
    this.n = 0;
    /** @type {'now' | 'batch' | 'none'} */
    this.reports = "none";
    /** When the lease is over; ms. */
    this.until = 0;
    /** Whether a question is under way that renews it. */
    this.isRenewing = false;
    /** How many requests have passed unreported since the last question. */
    this.unreported = 0;
    this.batch = new Batch((text) => agent.link.sendText(text));
  }

  /** The link is new, or gone: nothing is known of what the proxy wants. */
  reset() {
    this.filter = new Filter();
    this.isReady = this.isRenewing = false;
    this.n = this.until = this.unreported = 0;
    this.batch.clear();
  }

  /**
   * @param {any} message of the proxy
   * @returns {boolean} whether it is for this
   */
  receive(message) {
    const act = MESSAGES.get(message.type);
    act?.(this, message);
    return act !== undefined;
  }

  /**
   * @param {string} url
   * @param {{ id: string } | undefined} context of the test that the request belongs to
   * @returns {boolean} whether a request may pass unasked
   */
  lets(url, context) {
    if (!this.isReady || this.filter.asks(url, context?.id)) return false;
    const left = this.until - now();
    if (left <= 0 || !this.agent.link.isFree(MOST_BUFFERED)) return false;
    if (left >= RENEW_MS || this.isRenewing) return true;
    this.isRenewing = true;
    return false;
  }

  /** @param {number} sentAt when a question was sent that was answered by a passthrough */
  answered(sentAt) {
    this.isRenewing = false;
    this.until = Math.max(this.until, sentAt + LEASE_MS);
  }

  /** @returns {{ unreported?: number }} more fields of a question */
  count() {
    const { unreported } = this;
    this.unreported = 0;
    return unreported ? { unreported } : {};
  }

  /** @returns {boolean} whether what passes now is reported */
  pass() {
    if (this.reports !== "none") return true;
    this.unreported += 1;
    return false;
  }

  /**
   * @param {object} message about a request that passed unasked
   * @param {number} links as it was when it passed; dropped when it has changed
   */
  send(message, links) {
    if (this.agent.state !== "up" || links !== this.agent.links) return;
    if (this.reports === "now") this.agent.send(message, links);
    else this.batch.add(JSON.stringify(message));
  }
}

/**
 * @param {any} entries
 * @returns {any[]}
 */
const listOf = (entries) => (Array.isArray(entries) ? entries : []);

/** @type {Map<string, (local: LocalDecisions, message: any) => void>} */
const MESSAGES = new Map(
  Object.entries({
    "filter:set": (local, { n, entries, reports, batchBytes }) => {
      local.filter = new Filter();
      local.batch.limitTo(batchBytes);
      for (const entry of listOf(entries)) local.filter.add(entry);
      local.reports = reports;
      local.isReady = true;
      local.n = n;
      local.agent.send({ type: "filter:ack", n });
    },
    "filter:add": (local, { n, entries }) => {
      for (const entry of listOf(entries)) local.filter.add(entry);
      local.n = n;
      local.agent.send({ type: "filter:ack", n });
    },
    "filter:drop": (local, { entries }) => {
      for (const entry of listOf(entries)) local.filter.drop(entry);
    },
    sync: (local, { n, reports }) => {
      local.batch.flush();
      local.reports = reports;
      local.n = n;
      local.agent.send({ type: "synced", n });
    },
  }),
);

module.exports = { LocalDecisions };
