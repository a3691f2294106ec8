"use strict";

const { performance } = require("node:perf_hooks");
const { Batch } = require("./batch.js");
const { Filter } = require("./filter.js");
const { LEASE_MS, UNIX_SCHEME } = require("../protocol/facts.js");

/** Node's own clock, kept because tests of applications replace it. */
const now = performance.now.bind(performance);

/**
 * If the lease, which runs from the sending of the last question that was answered, has less time left, requests ask the
 * proxy to renew it, until it has answered: none may overtake the first that asks, on a connection that both share; ms.
 */
const RENEW_MS = 500;
/** If more bytes wait to be sent, the proxy is too slow and is asked about every request. */
const MOST_BUFFERED = 8 * 1024 * 1024;

/**
 * Lets requests pass without asking the proxy if no route can match them (feature `local`),
 * and reports them afterwards. It needs a filter of the proxy and an unexpired lease.
 */
class LocalDecisions {
  /** @param {import('../agent.js').Agent} agent */
  constructor(agent) {
    this.agent = agent;
    this.filter = new Filter();
    /** The entries that name UNIX sockets, and which count for them alone. */
    this.ofSockets = new Filter();
    /** Whether the proxy has sent its filter. */
    this.isReady = false;
    /** The number of the proxy's last message that was carried out. */
    this.n = 0;
    /** How requests that pass are reported. @type {'now' | 'batch' | 'none'} */
    this.reports = "none";
    /** The end of the lease; ms. */
    this.until = 0;
    /** The number of requests that passed without a report since the last question. */
    this.unreported = 0;
    this.batch = new Batch((text) => agent.link.sendText(text));
    /** Called when strict mode may refuse requests from now on. @type {Set<() => void>} */
    this.mayBeginToRefuse = new Set();
  }

  /** Forget the filter and the lease, because the link is new or lost. */
  reset() {
    this.filter = new Filter();
    this.ofSockets = new Filter();
    this.isReady = false;
    this.n = this.until = this.unreported = 0;
    this.batch.clear();
  }

  /**
   * @param {any} message of the proxy
   * @returns {boolean} whether the message belongs to this feature
   */
  receive(message) {
    const act = MESSAGES.get(message.type);
    const before = this.hasRefusals;
    act?.(this, message);
    if (!before && this.hasRefusals) for (const begin of this.mayBeginToRefuse) begin();
    return act !== undefined;
  }

  /**
   * @param {any} entry of the proxy
   * @returns {Filter} that it belongs to
   */
  filterOf(entry) {
    const [first] = Array.isArray(entry?.texts) ? entry.texts : [];
    return String(first).startsWith(UNIX_SCHEME) ? this.ofSockets : this.filter;
  }

  /**
   * @param {string} url
   * @param {{ id: string } | undefined} context of the request
   * @returns {boolean} whether a route may want the request, as far as the filter tells
   */
  asks(url, context) {
    const filter = url.startsWith(UNIX_SCHEME) ? this.ofSockets : this.filter;
    return filter.asks(url, context?.id);
  }

  /**
   * @param {string} url of a request over a UNIX socket
   * @returns {boolean} whether a route may name it; so it is if the proxy sends no filter
   */
  isNamed(url) {
    return !this.isReady || this.ofSockets.asks(url, undefined);
  }

  /**
   * @param {string} url
   * @param {{ id: string } | undefined} context of the request
   * @returns {boolean} whether the request may pass without a question
   */
  lets(url, context) {
    if (!this.isReady || this.asks(url, context)) return false;
    return this.until - now() >= RENEW_MS && this.agent.link.isFree(MOST_BUFFERED);
  }

  /** @returns {boolean} whether strict mode may refuse a request, or the filter is not known yet */
  get mayRefuse() {
    return !this.isReady || this.hasRefusals;
  }

  /** @returns {boolean} whether the filter has entries for all requests, or for contexts */
  get hasRefusals() {
    return this.filter.everything > 0 || this.filter.contexts.size > 0;
  }

  /** @param {number} sentAt the time of a question that the proxy has answered by a passthrough; ms */
  answered(sentAt) {
    this.until = Math.max(this.until, sentAt + LEASE_MS);
  }

  /** @returns {{ unreported?: number }} the field of a question with the number of unreported requests */
  count() {
    const { unreported } = this;
    this.unreported = 0;
    return unreported ? { unreported } : {};
  }

  /** @returns {boolean} whether a request that passes now is reported */
  pass() {
    if (this.reports !== "none") return true;
    this.unreported += 1;
    return false;
  }

  /**
   * @param {object} message about a request that passed without a question
   * @param {number} links the link's number at that time; the message is dropped if it has changed
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
      local.ofSockets = new Filter();
      local.batch.limitTo(batchBytes);
      for (const entry of listOf(entries)) local.filterOf(entry).add(entry);
      local.reports = reports;
      local.isReady = true;
      local.n = n;
      local.agent.send({ type: "filter:ack", n });
    },
    "filter:add": (local, { n, entries }) => {
      for (const entry of listOf(entries)) local.filterOf(entry).add(entry);
      local.n = n;
      local.agent.send({ type: "filter:ack", n });
    },
    "filter:drop": (local, { entries }) => {
      for (const entry of listOf(entries)) local.filterOf(entry).drop(entry);
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
