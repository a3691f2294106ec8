// @ts-check
/** The state of the page, which fires an event for each change. */

import { Collection } from "./collection.js";

/** @typedef {import("../../../rest-records.js").Connections} Connections */
/** @typedef {import("../../../rest-records.js").Health} Health */

/**
 * @typedef {object} Status
 * @property {"connecting" | "live" | "paused" | "away" | "saved"} kind
 * @property {string} message the reason why the proxy is unreachable (`away`)
 * @property {number} since epoch ms
 */

/** @typedef {"requests" | "sockets" | "connections" | "status" | "tick"} Change `tick`: time has passed */

export class Store extends EventTarget {
  constructor() {
    super();
    this.requests = new Collection();
    this.sockets = new Collection();
    /** @type {Connections} */
    this.connections = { nodeAgents: [], runnerWorkers: [], playwrightWorkers: [] };
    /** @type {Health | null} */
    this.health = null;
    /** @type {Status} */
    this.status = { kind: "connecting", message: "", since: Date.now() };
    /** The last event of the proxy to show: `back` or `restarted`. */
    this.notice = "";
    /** When rows were last cleared from the page, epoch ms. */
    this.clearedAt = 0;
  }

  /**
   * Clear rows from the page, but not from the proxy.
   *
   * @param {"requests" | "sockets"} what
   * @param {import("./rows.js").Row[]} rows
   */
  clear(what, rows) {
    this[what].clear(rows);
    this.clearedAt = Date.now();
    this.changed(what);
  }

  /** Show the cleared rows again. */
  restore() {
    this.requests.restore();
    this.sockets.restore();
    this.changed("requests");
    this.changed("sockets");
  }

  /** @param {Change} what */
  changed(what) {
    this.dispatchEvent(new CustomEvent("change", { detail: what }));
  }

  /** @param {(what: Change) => void} listener */
  listen(listener) {
    this.addEventListener("change", (event) => listener(/** @type {CustomEvent} */ (event).detail));
  }

  /** @param {Status["kind"]} kind @param {string} [message] */
  become(kind, message = "") {
    if (this.status.kind === kind && this.status.message === message) return;
    const since = this.status.kind === kind ? this.status.since : Date.now();
    this.status = { kind, message, since };
    this.changed("status");
  }
}
