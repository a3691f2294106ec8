// @ts-check
/** The note that rows were cleared from the page, with a button that shows them again. */

import { byId, fill, h } from "../lib/dom.js";
import { clock, plural } from "../lib/format.js";

/** @typedef {import("../data/store.js").Store} Store */

export class ClearedNote {
  /** @param {HTMLElement} place @param {Store} store */
  constructor(place, store) {
    this.place = place;
    this.store = store;
    this.shown = "";
  }

  update() {
    const { requests, sockets, clearedAt } = this.store;
    const counts = [
      requests.cleared.size ? plural(requests.cleared.size, "request") : "",
      sockets.cleared.size ? plural(sockets.cleared.size, "WebSocket") : "",
    ]
      .filter(Boolean)
      .join(" and ");
    const text = counts && `${counts} not shown: cleared from this page at ${clock(clearedAt).slice(0, 8)}.`;
    if (text === this.shown) return;
    this.shown = text;
    if (!text) return fill(this.place);
    fill(
      this.place,
      h(
        "div",
        { class: "notice notice-plain" },
        h("strong", {}, text),
        h("span", {}, "The proxy keeps them; loading the page shows them again."),
        h("button", { type: "button", class: "quiet", onclick: () => this.restore() }, "Show them again"),
      ),
    );
  }

  restore() {
    this.store.restore();
    byId("main").focus(); // the button, which had the focus, is hidden
  }
}
