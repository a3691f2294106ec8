// @ts-check
/** The banner for a proxy that is unreachable, reachable again, or was restarted. */

import { fill, h } from "../lib/dom.js";
import { clock } from "../lib/format.js";

/** @typedef {import("../data/store.js").Store} Store */

const SHOWN_MS = 8000;

export class Banner {
  /** @param {HTMLElement} place @param {Store} store */
  constructor(place, store) {
    this.place = place;
    this.store = store;
    this.shown = "";
    /** @type {number | undefined} */
    this.timer = undefined;
  }

  update() {
    const { status, notice } = this.store;
    const key = status.kind === "away" ? `away ${status.since} ${status.message}` : notice;
    if (key === this.shown) return;
    this.shown = key;
    clearTimeout(this.timer);
    if (status.kind === "away") this.away(status);
    else if (notice === "restarted") {
      this.say(
        "good",
        "The proxy was restarted.",
        "What it had recorded before is gone; agents and tests must connect again.",
        true,
      );
    } else if (notice === "back") {
      this.say("good", "The proxy is back.", "It is the same one: nothing was lost.", true);
      this.timer = setTimeout(() => this.dismiss(), SHOWN_MS);
    } else fill(this.place);
  }

  /** @param {import("../data/store.js").Status} status */
  away(status) {
    const { requests, sockets } = this.store;
    const kept = requests.rows.length || sockets.rows.length ? "What you see is what it had recorded until then. " : "";
    this.say(
      "bad",
      `The proxy is away since ${clock(status.since).slice(0, 8)}.`,
      `${status.message} ${kept}This page asks again every two seconds.`,
      false,
    );
  }

  /** @param {string} kind @param {string} title @param {string} text @param {boolean} closable */
  say(kind, title, text, closable) {
    fill(
      this.place,
      h(
        "div",
        { class: `notice notice-${kind}` },
        h("strong", {}, title),
        h("span", {}, text),
        closable && h("button", { type: "button", class: "quiet", onclick: () => this.dismiss() }, "Dismiss"),
      ),
    );
  }

  dismiss() {
    this.store.notice = "";
    this.update();
  }
}
