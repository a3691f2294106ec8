// @ts-check
/** Keeps the store up to date: polls the state of the proxy, and requests what has changed. */

import { ApiError, ask } from "./api.js";
import { run } from "./saved.js";
import { requestRow, socketRow } from "./rows.js";

/** @typedef {import("./store.js").Store} Store */

export const POLL_MS = 2000;

export class Poller {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.paused = false;
    this.stateTag = "";
    this.start = "";
    this.connectionsTag = "";
    /** @type {number | undefined} */
    this.timer = undefined;
    this.busy = false;
    document.addEventListener("visibilitychange", () => !document.hidden && this.poke());
  }

  /** Poll now, and every two seconds from then on. */
  async poke() {
    if (this.busy) return;
    clearTimeout(this.timer);
    this.busy = true;
    try {
      await this.look();
      this.store.become(run ? "saved" : this.paused ? "paused" : "live");
      this.store.changed("tick");
    } catch (error) {
      this.lost(error);
    } finally {
      this.busy = false;
    }
    if (!(this.paused || run)) this.timer = setTimeout(() => this.poke(), POLL_MS);
  }

  /** @param {boolean} paused */
  pause(paused) {
    this.paused = paused;
    clearTimeout(this.timer);
    if (paused) this.store.become("paused");
    else this.poke();
  }

  async look() {
    const answer = await ask("/state", { tag: this.stateTag });
    if (this.store.status.kind === "away") this.notice("back");
    if (answer === null) return;
    const state = answer.body;
    await this.notePrefix(state.history);
    const { requests, sockets } = this.store;
    await Promise.all([
      state.history !== requests.tag && this.refresh(requests, "/api/history", "entries", requestRow, "requests"),
      state.ws !== sockets.tag && this.refresh(sockets, "/api/ws", "connections", socketRow, "sockets"),
      state.connections !== this.connectionsTag && this.refreshConnections(state.connections),
    ]);
    this.stateTag = answer.tag;
  }

  /** Detect a restart of the proxy: each start has its own beginning of entity tags. @param {string} tag */
  async notePrefix(tag) {
    const start = tag.replace(/^"|-.*$/g, "");
    if (start === this.start) return;
    const health = await ask("/proxy/health");
    this.store.health = health?.body ?? null;
    if (this.start) {
      this.store.requests.forget();
      this.store.sockets.forget();
      this.notice("restarted");
    }
    this.start = start;
    this.store.changed("status");
  }

  /**
   * @param {import("./collection.js").Collection} list
   * @param {string} path
   * @param {string} name
   * @param {(raw: any) => import("./rows.js").Row} toRow
   * @param {"requests" | "sockets"} what
   */
  async refresh(list, path, name, toRow, what) {
    const since = list.tag ? `&since=${encodeURIComponent(list.tag)}` : "";
    const answer = await ask(`${path}?fields=summary${since}`, { tag: list.tag });
    if (answer === null) return;
    const rows = answer.body[name].map(toRow);
    if (answer.body.removed) list.apply(answer.body.removed, rows);
    else list.replace(rows);
    list.tag = answer.tag;
    list.dropped = answer.body.dropped ?? 0;
    this.store.changed(what);
  }

  /** @param {string} tag */
  async refreshConnections(tag) {
    const answer = await ask("/api/connections?fields=tests");
    if (answer === null) return;
    this.store.connections = answer.body;
    this.connectionsTag = tag;
    this.store.changed("connections");
  }

  /** @param {unknown} error */
  lost(error) {
    if (!(error instanceof ApiError)) throw error;
    this.stateTag = "";
    this.store.notice = "";
    this.store.become("away", error.message);
  }

  /** @param {"back" | "restarted"} what */
  notice(what) {
    this.store.notice = what;
    this.store.changed("status");
  }
}
